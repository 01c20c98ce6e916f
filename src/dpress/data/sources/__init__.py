"""Where rows are: files, folders, databases and tables in memory, each as Arrow batches."""
