let beta = 1;
