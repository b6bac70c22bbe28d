el.innerHTML = text;
