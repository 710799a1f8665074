-- Neovim's own client: `ptoc lsp` for every .pto file.
if vim.fn.executable("ptoc") == 1 and vim.lsp.start then
  vim.lsp.start({ name = "ptoc", cmd = { "ptoc", "lsp" }, root_dir = vim.fn.expand("%:p:h") })
end
