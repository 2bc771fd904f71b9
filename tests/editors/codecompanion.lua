-- What a user of CodeCompanion does, by the block of docs/editors/neovim.md, in a Neovim without a screen. ULLAGE_PLUGINS names the folder with
-- the plugins `codecompanion.nvim` and `plenary.nvim`, ULLAGE_TEST that of the test; `told.json` is written there.

local folder, plugins = vim.env.ULLAGE_TEST, vim.env.ULLAGE_PLUGINS
local told = { errors = {}, notices = {}, questions = {} }

local function lines(buf)
  return vim.api.nvim_buf_get_lines(buf, 0, -1, false)
end

local function until_(what, holds)
  if not vim.wait(60000, holds, 5) then
    error(what .. " did not come")
  end
end

vim.notify = function(text)
  table.insert(told.notices, text)
end
vim.opt.runtimepath:prepend(plugins .. "/plenary.nvim")
vim.opt.runtimepath:prepend(plugins .. "/codecompanion.nvim")
vim.cmd("runtime! plugin/*.lua plugin/*.vim")

local ok, problem = xpcall(function()
  dofile(folder .. "/init.lua")
  local approval = require("codecompanion.interactions.chat.helpers.approval_prompt")
  approval.request = function(_, given)
    local labels = vim.tbl_map(function(choice) return choice.label end, given.choices)
    table.insert(told.questions, { title = given.title, labels = labels })
    for _, choice in ipairs(given.choices) do
      if choice.label == require("codecompanion.interactions.chat.tools.labels").accept then
        choice.callback()
      end
    end
    return function() end
  end

  vim.cmd.edit("dip.txt")
  local file = vim.api.nvim_get_current_buf()
  local codecompanion = require("codecompanion")
  codecompanion.chat()
  local chat = codecompanion.last_chat()
  until_("the session", function()
    return chat.acp_connection and chat.acp_connection.session_id
  end)
  told.options = vim.tbl_map(function(option) return option.id end, chat.acp_connection._config_options)

  for _, text in ipairs({ "set the dip to five", "make a note", "/context" }) do
    local before = chat.cycle
    chat:add_buf_message({ role = "user", content = text })
    chat:submit()
    until_("an answer to " .. text, function()
      return chat.cycle > before and not chat.current_request
    end)
  end
  vim.cmd.checktime() -- as Neovim does when its window is looked at again
  told.file, told.disk = lines(file), vim.fn.readfile("dip.txt")
  told.chat, told.tokens, told.title = lines(chat.bufnr), chat.tokens, chat.title
end, debug.traceback)
if not ok then
  table.insert(told.errors, tostring(problem))
  local chat = require("codecompanion").last_chat()
  told.chat = chat and lines(chat.bufnr) or nil
end
vim.fn.writefile({ vim.json.encode(told) }, folder .. "/told.json")
vim.cmd("qall!")
