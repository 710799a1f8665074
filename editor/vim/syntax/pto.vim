" Vim syntax of the .pto orchestration language.  Tested against the compiler's own tokens.
if exists('b:current_syntax')
  finish
endif
syntax include @ptoC syntax/c.vim
unlet! b:current_syntax

syntax keyword ptoDeclaration import as const param struct export orch let var view tiled array of static_assert
syntax keyword ptoDirection   in out inout acc own host scratch writes
syntax keyword ptoAttribute   on cost extern where
syntax keyword ptoStatement   scope drop return break continue assert print await
syntax keyword ptoConditional if else match
syntax keyword ptoRepeat      for step while do
syntax keyword ptoBoolean     true false
syntax keyword ptoType        f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 bool
syntax keyword ptoBuiltin     min max abs ceil_div log2 sqrt dim exp log pow sin cos tanh floor ceil round select ranks

" After a point any word is a name; `..` is a range.
syntax match  ptoMember  "\.\@1<!\.\.\@!\_s*\h\w*"
syntax match  ptoMarker  "@\h\w*"
syntax match  ptoNumber  "\<0[xX][0-9a-fA-F_]\+\>"
syntax match  ptoNumber  "\<\d[0-9_]*\>"
syntax match  ptoNumber  "\<\d[0-9_]*\.\d[0-9_]*\%([eE][-+]\?\d\+\)\?\>"
syntax match  ptoNumber  "\<\d[0-9_]*[eE][-+]\?\d\+\>"
syntax region ptoString  start=+"+ skip=+\\.+ end=+"+ end=+$+ contains=ptoEscape
syntax match  ptoEscape  "\\." contained
syntax match  ptoComment "//.*$" contains=@Spell,ptoTodo
syntax region ptoComment start="/\*" end="\*/" contains=@Spell,ptoTodo
syntax keyword ptoTodo contained TODO FIXME XXX

" A kernel ends with `;`, goes on with equations behind `=>`, or with its C body.
syntax cluster ptoInKernel contains=ptoDirection,ptoAttribute,ptoRepeat,ptoDeclaration,ptoBoolean,ptoType,ptoBuiltin,ptoMember,ptoNumber,ptoString,ptoComment
syntax region ptoKernel matchgroup=ptoDeclaration start="\<kernel\>" matchgroup=NONE end=";" end="=>\_s*{" end="{"me=s-1 contains=@ptoInKernel nextgroup=ptoBody
syntax region ptoBody matchgroup=ptoBrace start="{" end="}" contained contains=@ptoC

syntax sync fromstart

highlight default link ptoDeclaration Keyword
highlight default link ptoDirection   StorageClass
highlight default link ptoAttribute   Keyword
highlight default link ptoStatement   Statement
highlight default link ptoConditional Conditional
highlight default link ptoRepeat      Repeat
highlight default link ptoBoolean     Boolean
highlight default link ptoType        Type
highlight default link ptoBuiltin     Function
highlight default link ptoMarker      PreProc
highlight default link ptoNumber      Number
highlight default link ptoString      String
highlight default link ptoEscape      SpecialChar
highlight default link ptoComment     Comment
highlight default link ptoTodo        Todo

let b:current_syntax = 'pto'
