" MLIR text of one kernel uses the same suffix; its first word shows it.
autocmd BufRead,BufNewFile *.pto if getline(1) !~# '^\s*\%(module\|func\.func\|%\|!pto\.\|#\)' | setfiletype pto | endif
