-- What a user of the page docs/editors/neovim.md does, in a Neovim without a screen. ULLAGE_TEST names a folder with the blocks of the page
-- (lua/ullage.lua, init.lua), and `settings.json` with what a test needs besides; `told.json` is written there.

local folder = vim.env.ULLAGE_TEST
local told = { notices = {}, questions = {}, errors = {} }

local function lines(buf)
  return vim.api.nvim_buf_get_lines(buf, 0, -1, false)
end

local function write()
  vim.fn.writefile({ vim.json.encode(told) }, folder .. "/told.json")
end

local function step(name, work)
  local ok, result = xpcall(work, debug.traceback)
  told[name] = result
  if not ok then
    table.insert(told.errors, name .. ": " .. tostring(result))
    write()
    vim.cmd("cquit 1")
  end
end

local function until_(what, holds)
  if not vim.wait(20000, holds, 5) then
    error(what .. " did not come")
  end
end

vim.notify = function(text)
  table.insert(told.notices, text)
end
vim.ui.select = function(options, more, use)
  table.insert(told.questions, { more.prompt, vim.tbl_map(more.format_item, options) })
  use(options[1])
end

-- the second block of the page, with settings that lead to the test's own model
vim.opt.runtimepath:prepend(folder)
local ullage = require("ullage")
local setup = ullage.setup
ullage.setup = function(settings)
  setup(vim.tbl_deep_extend("force", settings, vim.json.decode(table.concat(vim.fn.readfile(folder .. "/settings.json")))))
end
dofile(folder .. "/init.lua")

local function prompt(command)
  local count = #ullage.items
  vim.cmd(command)
  until_("the prompt", function() return #ullage.items > count end)
  until_("an answer to " .. command, function()
    local last = ullage.items[#ullage.items]
    return ullage.state == "idle" and last.kind ~= "user" and last.status ~= "in_progress"
  end)
end

step("edit", function()
  vim.cmd.edit("dip.txt")
  until_("the session", function() return ullage.gauge ~= nil end)
  local buf = vim.api.nvim_get_current_buf()
  prompt("Ullage set the dip to five")
  local found = { text = lines(buf), disk = vim.fn.readfile("dip.txt"), modified = vim.bo[buf].modified }
  vim.cmd("silent undo")
  found.undone = lines(buf)
  return found
end)

step("unsaved", function()
  local buf = vim.api.nvim_get_current_buf()
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, { "dip = 7, not saved", "second line", "third line" })
  vim.diagnostic.set(vim.api.nvim_create_namespace("tides"), buf, {
    { lnum = 1, col = 0, severity = vim.diagnostic.severity.WARN, source = "tides", message = "too deep" },
  })
  prompt("1,2Ullage look at this")
  prompt("Ullage set it to nine")
  return { text = lines(buf), disk = vim.fn.readfile("dip.txt"), modified = vim.bo[buf].modified }
end)

step("compacted", function()
  local statuses = {}
  for number = 1, 3 do
    prompt("Ullage look at tap " .. number)
  end
  for _, command in ipairs({ "Ullage /compact", "Ullage /undo" }) do
    vim.cmd(command)
    until_(command, function()
      for _, item in ipairs(ullage.items) do
        if item.kind == "compaction" and item.status == (command == "Ullage /undo" and "undone" or "completed") then
          return true
        end
      end
    end)
    for _, item in ipairs(ullage.items) do
      if item.kind == "compaction" then
        table.insert(statuses, item.status)
      end
    end
  end
  return statuses
end)

step("refused", function()
  local count = #told.notices
  vim.cmd("Ullage /undo")
  until_("a refusal", function() return #told.notices > count end)
  return told.notices[#told.notices]
end)

step("shown", function()
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    local buf = vim.api.nvim_win_get_buf(win)
    if vim.bo[buf].filetype == "markdown" then
      return lines(buf)
    end
  end
end)

write()
vim.cmd("qall!")
