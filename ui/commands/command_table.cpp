// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/commands/command_table.h"

#include <QCoreApplication>

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace spanscope::ui {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("commands", text);
}

std::vector<CommandInfo> makeTable() {
  using enum CommandScope;
  std::vector<CommandInfo> table;
  const auto add = [&table](const char* id, const char* category, const char* text, const char* help,
                            std::initializer_list<const char*> keys = {}, CommandScope scope = Window) {
    CommandInfo info{.id = QString::fromLatin1(id),
                     .category = tr(category),
                     .text = tr(text),
                     .help = tr(help),
                     .keys = {},
                     .scope = scope};
    for (const char* key : keys) info.keys.append(QString::fromLatin1(key));
    table.push_back(std::move(info));
  };

  add("file.new", "File", "New", "An empty query in a new tab", {"Ctrl+N"});
  add("file.open", "File", "Open…", "Open a query, a document or a recorded run", {"Ctrl+O"});
  add("file.welcome", "File", "Welcome page", "Examples and recent files");
  add("file.save", "File", "Save", "Save the document", {"Ctrl+S"});
  add("file.save-as", "File", "Save as…", "Save the document under another name", {"Ctrl+Shift+S"});
  add("file.export", "File", "Export query…", "The query as JSON, curl or Python, for a server", {"Ctrl+E"});
  add("file.export-view", "File", "Export view…", "A view as a picture or a table", {"Ctrl+Shift+E"});
  add("file.close", "File", "Close tab", "Close the document", {"Ctrl+W"});
  add("file.quit", "File", "Quit", "Close the window", {"Ctrl+Q"});

  add("edit.undo", "Edit", "Undo", "Take the last change back", {"Ctrl+Z"});
  add("edit.redo", "Edit", "Redo", "Make the change again", {"Ctrl+Shift+Z", "Ctrl+Y"});
  add("edit.cut", "Edit", "Cut", "Cut the selected nodes, as JSON text", {"Ctrl+X"}, Canvas);
  add("edit.copy", "Edit", "Copy", "Copy the selected nodes, as JSON text", {"Ctrl+C"}, Canvas);
  add("edit.paste", "Edit", "Paste", "Paste nodes or the JSON of a query", {"Ctrl+V"}, Canvas);
  add("edit.duplicate", "Edit", "Duplicate", "A copy of the selected nodes beside them", {"Ctrl+D"}, Canvas);
  add("edit.delete", "Edit", "Delete", "Delete the selected nodes with everything under them", {"Delete"},
      Canvas);
  add("edit.delete-keep", "Edit", "Delete, keep the chain",
      "Delete the selected nodes; their children take their place", {"Ctrl+Delete"}, Canvas);
  add("edit.select-all", "Edit", "Select all", "Select every node", {"Ctrl+A"}, Canvas);
  add("edit.find", "Edit", "Find…", "Find a node by its text", {"Ctrl+F"});

  add("node.add", "Node", "Add…", "Add a node: what fits the selected one comes first", {"Tab", "Insert"},
      Canvas);
  add("node.edit", "Node", "Edit text", "Edit the selected node in the inspector", {"Return", "Enter"},
      Canvas);
  add("node.rename", "Node", "Rename", "Give the selected node a name", {"F2"}, Canvas);
  add("node.move-up", "Node", "Move up", "Move the selected node before its sibling", {"Ctrl+Up"}, Canvas);
  add("node.move-down", "Node", "Move down", "Move the selected node behind its sibling", {"Ctrl+Down"},
      Canvas);
  add("node.disconnect", "Node", "Disconnect", "Take the selected node out of its parent", {"Shift+Delete"},
      Canvas);
  add("node.replace", "Node", "Replace operator…", "Another operator in place", {"Ctrl+R"}, Canvas);
  add("node.plus-cross", "Node", "Plus ⇄ cross", "Make a plus a cross or a cross a plus", {"X"}, Canvas);
  add("node.make-root", "Node", "Make this the query", "The tree of the selected node becomes the query");
  add("node.mute", "Node", "Mute", "Leave the branch out when running", {"M"}, Canvas);
  add("node.freeze", "Node", "Freeze answer", "Use the last answer instead of running the generate again",
      {"Z"}, Canvas);
  add("node.collapse", "Node", "Collapse", "Hide what is under the node", {"H"}, Canvas);
  add("node.frame", "Node", "Frame", "A titled frame around the selected nodes", {"Ctrl+G"}, Canvas);
  add("node.note", "Node", "Note", "A text on the canvas", {"Shift+N"}, Canvas);
  add("node.tidy", "Node", "Tidy layout", "Lay out the selected nodes, or all, as a tree", {"Ctrl+L"});

  add("run.run", "Run", "Run", "Run the query", {"Ctrl+Return", "Ctrl+Enter"});
  add("run.run-selected", "Run", "Run selected", "Run the subtree of the selected node",
      {"Ctrl+Shift+Return", "Ctrl+Shift+Enter"});
  add("run.stop", "Run", "Stop", "Stop the run", {"Ctrl+."});
  add("run.clear-cache", "Run", "Empty the cache", "Forget every stored block");
  add("run.record", "Run", "Record…", "Record the events from here on in a file");
  add("run.save-trace", "Run", "Save run…", "Save the recorded events of this session");
  add("run.step-back", "Run", "Step back", "One event back", {"Alt+Left"});
  add("run.step-forward", "Run", "Step forward", "One event on", {"Alt+Right"});
  add("run.to-end", "Run", "Back to now", "Show the newest state", {"Alt+End"});

  add("view.author", "View", "Author layout", "Docks for writing a query", {"Alt+1"});
  add("view.explain", "View", "Explain layout", "Docks for seeing what the cache and the attention did",
      {"Alt+2"});
  add("view.measure", "View", "Measure layout", "Docks for numbers", {"Alt+3"});
  add("view.reset", "View", "Reset layout", "Put the docks of this layout back in their places");
  add("view.zoom-in", "View", "Zoom in", "Larger nodes", {"Ctrl++", "Ctrl+="});
  add("view.zoom-out", "View", "Zoom out", "Smaller nodes", {"Ctrl+-"});
  add("view.zoom-reset", "View", "Zoom to 100 %", "Nodes at their own size", {"Ctrl+0"});
  add("view.fit-all", "View", "Fit all", "Show every node", {"Home"}, Canvas);
  add("view.fit-selection", "View", "Fit selection", "Show the selected nodes", {"F", "."}, Canvas);
  add("view.minimap", "View", "Minimap", "Show or hide the overview of the canvas", {"Alt+M"});
  add("view.theme", "View", "Light or dark", "Switch between the light and the dark theme", {"Ctrl+Shift+L"});

  add("help.palette", "Help", "Commands…", "Find a command by its name", {"Ctrl+K", "Ctrl+Shift+P"});
  add("help.keys", "Help", "Keys", "All keys on one sheet", {"?", "F1"});
  add("help.about", "Help", "About Spanscope", "Versions and device");
  return table;
}

}  // namespace

const std::vector<CommandInfo>& commandTable() {
  static const std::vector<CommandInfo> table = makeTable();
  return table;
}

const CommandInfo* findCommand(const QString& id) {
  const auto& table = commandTable();
  const auto found =
      std::find_if(table.begin(), table.end(), [&id](const CommandInfo& info) { return info.id == id; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace spanscope::ui
