# run
run()
