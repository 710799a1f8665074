" :make checks the file; errors and warnings go to the quickfix list.
if exists('current_compiler')
  finish
endif
let current_compiler = 'pto'
CompilerSet makeprg=ptoc\ check\ --color=never\ %:S
CompilerSet errorformat=%f:%l:%c:\ %trror[%*[^]]]:\ %m,%f:%l:%c:\ %tarning[%*[^]]]:\ %m,%f:%l:%c:\ %tote:\ %m,%-G%.%#
