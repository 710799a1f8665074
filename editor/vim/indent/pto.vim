" Two blanks a brace, four inside the C body of a kernel.
if exists('b:did_indent')
  finish
endif
let b:did_indent = 1
setlocal indentexpr=PtoIndent(v:lnum) indentkeys=0{,0},!^F,o,O
let b:undo_indent = 'setlocal indentexpr< indentkeys<'

function! PtoIndent(line) abort
  let above = prevnonblank(a:line - 1)
  if above == 0
    return 0
  endif
  let step = synIDattr(synIDtrans(synID(above, 1, 0)), 'name') =~# '^c' || getline(above) =~# '^{' ? 4 : 2
  let text = substitute(getline(above), '//.*', '', '')
  let opened = count(text, '{') - count(text, '}') + (text =~# '^\s*}')
  return indent(above) + (opened > 0 ? step : 0) - (getline(a:line) =~# '^\s*}' ? step : 0)
endfunction
