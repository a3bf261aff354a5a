// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/commands/command_table.h"

#include "ui/words/tr.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace spanscope::ui {
namespace {

std::vector<CommandInfo> makeTable() {
  using enum CommandScope;
  std::vector<CommandInfo> table;
  const auto add = [&table](const char* id, const QString& category, const QString& text, const QString& help,
                            std::initializer_list<const char*> keys = {}, CommandScope scope = Window) {
    CommandInfo info{.id = QString::fromLatin1(id),
                     .category = category,
                     .text = text,
                     .help = help,
                     .keys = {},
                     .scope = scope};
    for (const char* key : keys) info.keys.append(QString::fromLatin1(key));
    table.push_back(std::move(info));
  };

  add("file.new", tr("File"), tr("New"), tr("An empty query in a new tab"), {"Ctrl+N"});
  add("file.open", tr("File"), tr("Open…"), tr("Open a query, a document or a recorded run"), {"Ctrl+O"});
  add("file.welcome", tr("File"), tr("Welcome page"), tr("Examples and recent files"));
  add("file.save", tr("File"), tr("Save"), tr("Save the document"), {"Ctrl+S"});
  add("file.save-as", tr("File"), tr("Save as…"), tr("Save the document under another name"),
      {"Ctrl+Shift+S"});
  add("file.export", tr("File"), tr("Export query…"), tr("The query as JSON, curl or Python, for a server"),
      {"Ctrl+E"});
  add("file.export-view", tr("File"), tr("Export view…"), tr("A view as a picture or a table"),
      {"Ctrl+Shift+E"});
  add("file.close", tr("File"), tr("Close tab"), tr("Close the document"), {"Ctrl+W"});
  add("file.quit", tr("File"), tr("Quit"), tr("Close the window"), {"Ctrl+Q"});

  add("edit.undo", tr("Edit"), tr("Undo"), tr("Take the last change back"), {"Ctrl+Z"});
  add("edit.redo", tr("Edit"), tr("Redo"), tr("Make the change again"), {"Ctrl+Shift+Z", "Ctrl+Y"});
  add("edit.cut", tr("Edit"), tr("Cut"), tr("Cut the selected nodes, as JSON text"), {"Ctrl+X"}, Canvas);
  add("edit.copy", tr("Edit"), tr("Copy"), tr("Copy the selected nodes, as JSON text"), {"Ctrl+C"}, Canvas);
  add("edit.paste", tr("Edit"), tr("Paste"), tr("Paste nodes or the JSON of a query"), {"Ctrl+V"}, Canvas);
  add("edit.duplicate", tr("Edit"), tr("Duplicate"), tr("A copy of the selected nodes beside them"),
      {"Ctrl+D"}, Canvas);
  add("edit.delete", tr("Edit"), tr("Delete"), tr("Delete the selected nodes with everything under them"),
      {"Delete"}, Canvas);
  add("edit.delete-keep", tr("Edit"), tr("Delete, keep the chain"),
      tr("Delete the selected nodes; their children take their place"), {"Ctrl+Delete"}, Canvas);
  add("edit.select-all", tr("Edit"), tr("Select all"), tr("Select every node"), {"Ctrl+A"}, Canvas);
  add("edit.find", tr("Edit"), tr("Find…"), tr("Find a node by its text"), {"Ctrl+F"});

  add("node.add", tr("Node"), tr("Add…"), tr("Add a node: what fits the selected one comes first"),
      {"Tab", "Insert"}, Canvas);
  add("node.edit", tr("Node"), tr("Edit text"), tr("Edit the selected node in the inspector"),
      {"Return", "Enter"}, Canvas);
  add("node.rename", tr("Node"), tr("Rename"), tr("Give the selected node a name"), {"F2"}, Canvas);
  add("node.move-up", tr("Node"), tr("Move up"), tr("Move the selected node before its sibling"), {"Ctrl+Up"},
      Canvas);
  add("node.move-down", tr("Node"), tr("Move down"), tr("Move the selected node behind its sibling"),
      {"Ctrl+Down"}, Canvas);
  add("node.disconnect", tr("Node"), tr("Disconnect"), tr("Take the selected node out of its parent"),
      {"Shift+Delete"}, Canvas);
  add("node.replace", tr("Node"), tr("Replace operator…"), tr("Another operator in place"), {"Ctrl+R"},
      Canvas);
  add("node.plus-cross", tr("Node"), tr("Plus ⇄ cross"), tr("Make a plus a cross or a cross a plus"), {"X"},
      Canvas);
  add("node.make-root", tr("Node"), tr("Make this the query"),
      tr("The tree of the selected node becomes the query"));
  add("node.mute", tr("Node"), tr("Mute"), tr("Leave the branch out when running"), {"M"}, Canvas);
  add("node.freeze", tr("Node"), tr("Freeze answer"),
      tr("Use the last answers instead of running the node again"), {"Z"}, Canvas);
  add("node.collapse", tr("Node"), tr("Collapse"), tr("Hide what is under the node"), {"H"}, Canvas);
  add("node.frame", tr("Node"), tr("Frame"), tr("A titled frame around the selected nodes"), {"Ctrl+G"},
      Canvas);
  add("node.note", tr("Node"), tr("Note"), tr("A text on the canvas"), {"Shift+N"}, Canvas);
  add("node.tidy", tr("Node"), tr("Tidy layout"), tr("Lay out the selected nodes, or all, as a tree"),
      {"Ctrl+L"});

  add("run.run", tr("Run"), tr("Run"), tr("Run the query"), {"Ctrl+Return", "Ctrl+Enter"});
  add("run.run-selected", tr("Run"), tr("Run selected"), tr("Run the subtree of the selected node"),
      {"Ctrl+Shift+Return", "Ctrl+Shift+Enter"});
  add("run.stop", tr("Run"), tr("Stop"), tr("Stop the run"), {"Ctrl+."});
  add("run.clear-cache", tr("Run"), tr("Empty the cache"), tr("Forget every stored block"));
  add("run.record", tr("Run"), tr("Record…"), tr("Record the events from here on in a file"));
  add("run.save-trace", tr("Run"), tr("Save run…"), tr("Save the recorded events of this session"));
  add("run.step-back", tr("Run"), tr("Step back"), tr("One event back"), {"Alt+Left"});
  add("run.step-forward", tr("Run"), tr("Step forward"), tr("One event on"), {"Alt+Right"});
  add("run.to-end", tr("Run"), tr("Back to now"), tr("Show the newest state"), {"Alt+End"});

  add("view.author", tr("View"), tr("Author layout"), tr("Docks for writing a query"), {"Alt+1"});
  add("view.explain", tr("View"), tr("Explain layout"),
      tr("Docks for seeing what the cache and the attention did"), {"Alt+2"});
  add("view.measure", tr("View"), tr("Measure layout"), tr("Docks for numbers"), {"Alt+3"});
  add("view.reset", tr("View"), tr("Reset layout"), tr("Put the docks of this layout back in their places"));
  add("view.zoom-in", tr("View"), tr("Zoom in"), tr("Larger nodes"), {"Ctrl++", "Ctrl+="});
  add("view.zoom-out", tr("View"), tr("Zoom out"), tr("Smaller nodes"), {"Ctrl+-"});
  add("view.zoom-reset", tr("View"), tr("Zoom to 100 %"), tr("Nodes at their own size"), {"Ctrl+0"});
  add("view.fit-all", tr("View"), tr("Fit all"), tr("Show every node"), {"Home"}, Canvas);
  add("view.fit-selection", tr("View"), tr("Fit selection"), tr("Show the selected nodes"), {"F", "."},
      Canvas);
  add("view.minimap", tr("View"), tr("Minimap"), tr("Show or hide the overview of the canvas"), {"Alt+M"});
  add("view.forecast", tr("View"), tr("Forecast on nodes"),
      tr("Show or hide on each node what the next run would find in the cache"), {"Shift+F"}, Canvas);
  add("view.theme", tr("View"), tr("Light or dark"), tr("Switch between the light and the dark theme"),
      {"Ctrl+Shift+L"});

  add("help.palette", tr("Help"), tr("Commands…"), tr("Find a command by its name"),
      {"Ctrl+K", "Ctrl+Shift+P"});
  add("help.manual", tr("Help"), tr("Manual"), tr("The page on the dock that has the focus, or the contents"),
      {"F1"});
  add("help.keys", tr("Help"), tr("Keys"), tr("All keys on one sheet"), {"?"});
  add("help.about", tr("Help"), tr("About Spanscope"), tr("Versions and device"));
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
