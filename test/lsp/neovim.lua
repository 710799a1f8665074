-- neovim.lua - what a user of Neovim does, without a screen: nvim --headless -u NONE -l is not there before 0.9, so -S.
local ptoc, path = vim.env.PTOC, vim.env.PROGRAM
local function expect(condition, what)
  if not condition then
    io.stderr:write("neovim: " .. what .. "\n")
    vim.cmd("cquit 1")
  end
end

vim.cmd("edit " .. path)
local buffer = vim.api.nvim_get_current_buf()
local config = { name = "ptoc", cmd = { ptoc, "lsp" }, root_dir = vim.fn.getcwd() }
local client = vim.lsp.start_client(config)
vim.lsp.buf_attach_client(buffer, client)

local function lines() return vim.api.nvim_buf_get_lines(buffer, 0, -1, false) end
local function diagnostics() return vim.diagnostic.get(buffer) end
local function wait(done, what) expect(vim.wait(20000, done, 10), what) end
local function find(text, skip)
  for number, line in ipairs(lines()) do
    local at = line:find(text, 1, true)
    if at then return { line = number - 1, character = at - 1 + (skip or 0) } end
  end
  expect(false, "no '" .. text .. "' in the text")
end
local function ask(method, params)
  params.textDocument = { uri = vim.uri_from_bufnr(buffer) }
  local answer = vim.lsp.buf_request_sync(buffer, method, params, 20000)
  expect(answer and answer[client], method .. " has no answer")
  expect(not answer[client].error, method .. ": " .. vim.inspect(answer[client].error))
  return answer[client].result
end
local function encoding() return vim.lsp.get_client_by_id(client).offset_encoding or "utf-16" end
local function hover(text, skip) return ask("textDocument/hover", { position = find(text, skip) }).contents.value end

-- A message at its place, and its fix.
wait(function() return #diagnostics() == 1 end, "no message E08")
local d = diagnostics()[1]
expect(d.code == "E08" and d.lnum == find("add_to(P, c").line, "E08 is at another place: " .. vim.inspect(d))
local actions = ask("textDocument/codeAction", {
  range = { start = { line = d.lnum, character = d.col }, ["end"] = { line = d.end_lnum, character = d.end_col } },
  context = { diagnostics = {}, only = { "quickfix" } } })
vim.lsp.util.apply_workspace_edit(actions[1].edit, encoding())
expect(find("tile.add_to(P, inout c);"), "the line is not fixed")
wait(function() return #diagnostics() == 0 end, "the message stays")

-- Hovers, a definition in the library, a rename, hints.
expect(hover("At = ", 0):find("tiled"), "hover of a view")
expect(hover("P = ", 0):find("f32%[64, 64%]"), "hover of a tensor")
expect(hover("gemm(a", 0):find("kernel gemm"), "hover of a kernel of std/")
local place = ask("textDocument/definition", { position = find("gemm(a", 1) })
expect(vim.fn.filereadable(vim.uri_to_fname(place.uri)) == 1, "the definition of tile.gemm is no file")
local edit = ask("textDocument/rename", { position = find("P = ", 0), newName = "product" })
vim.lsp.util.apply_workspace_edit(edit, encoding())
expect(find("let product = ") and find("add_to(product, inout c)"), "the tensor is not renamed")
local hints = ask("textDocument/inlayHint", {
  range = { start = { line = 0, character = 0 }, ["end"] = { line = 99, character = 0 } } })
expect(#hints > 0, "no hints")
vim.wait(200, function() return #diagnostics() > 0 end, 10)
expect(#diagnostics() == 0, "the renamed program has a message")
vim.lsp.stop_client(client)
vim.cmd("qall!")
