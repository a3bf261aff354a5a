// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/commands/command_table.h"

#include "ui/words/tr.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace spanscope::ui {
namespace {

std::vector<CommandInfo> makeTable() {
  using enum CommandCategory;
  using enum CommandSubject;
  using enum CommandScope;
  std::vector<CommandInfo> table;
  const auto add = [&table](const char* id, CommandCategory category, CommandSubject subject,
                            const QString& text, const QString& help,
                            std::initializer_list<const char*> keys = {}, CommandScope scope = Window) {
    CommandInfo info{.id = QString::fromLatin1(id),
                     .category = category,
                     .subject = subject,
                     .text = text,
                     .help = help,
                     .keys = {},
                     .scope = scope};
    for (const char* key : keys) info.keys.append(QString::fromLatin1(key));
    table.push_back(std::move(info));
  };

  add("file.new", File, Program, tr("New"), tr("An empty query in a new tab"), {"Ctrl+N"});
  add("file.open", File, Program, tr("Open…"), tr("Open a query, a document or a recorded run"), {"Ctrl+O"});
  add("file.add-files", File, Program, tr("Add files…"),
      tr("Texts as documents of the query: children of a plus, named after the files"), {"Ctrl+Shift+A"});
  add("file.add-folder", File, Program, tr("Add a folder…"),
      tr("Every text in a folder and the folders below it as a document of the query"));
  add("file.welcome", File, Program, tr("Welcome page"), tr("Examples and recent files"));
  add("file.save", File, Document, tr("Save"), tr("Save the document"), {"Ctrl+S"});
  add("file.save-as", File, Document, tr("Save as…"), tr("Save the document under another name"),
      {"Ctrl+Shift+S"});
  add("file.export", File, Document, tr("Export query…"),
      tr("The query as JSON, curl or Python, for a server"), {"Ctrl+E"});
  add("file.export-view", File, Document, tr("Export view…"), tr("A view as a picture or a table"),
      {"Ctrl+Shift+E"});
  add("file.export-window", File, Document, tr("Export window…"), tr("The whole window as a picture"));
  add("file.close", File, Document, tr("Close tab"), tr("Close the document"), {"Ctrl+W"});
  add("file.quit", File, Program, tr("Quit"), tr("Close the window"), {"Ctrl+Q"});

  add("edit.undo", Edit, Document, tr("Undo"),
      tr("Take the last change of the query back; settings stay as they are"), {"Ctrl+Z"});
  add("edit.redo", Edit, Document, tr("Redo"), tr("Make the change again"), {"Ctrl+Shift+Z", "Ctrl+Y"});
  add("edit.undo-setting", Edit, Document, tr("Undo setting"),
      tr("Take the last change of a setting back; the query stays as it is"), {"Ctrl+Alt+Z"});
  add("edit.redo-setting", Edit, Document, tr("Redo setting"),
      tr("Make the change of the setting again; the query stays as it is"), {"Ctrl+Alt+Shift+Z"});
  add("edit.history", Edit, Document, tr("Undo history…"),
      tr("All changes of the query and of its settings, to go back to before any of them"));
  add("edit.cut", Edit, Document, tr("Cut"), tr("Cut the selected nodes, as JSON text"), {"Ctrl+X"}, Canvas);
  add("edit.copy", Edit, Document, tr("Copy"), tr("Copy the selected nodes, as JSON text"), {"Ctrl+C"},
      Canvas);
  add("edit.paste", Edit, Document, tr("Paste"),
      tr("Paste nodes, the JSON of a query, or a text as a message"), {"Ctrl+V"}, Canvas);
  add("edit.duplicate", Edit, Document, tr("Duplicate"), tr("A copy of the selected nodes beside them"),
      {"Ctrl+D"}, Canvas);
  add("edit.delete", Edit, Document, tr("Delete"), tr("Delete the selected nodes with everything under them"),
      {"Delete"}, Canvas);
  add("edit.delete-keep", Edit, Document, tr("Delete, keep the chain"),
      tr("Delete the selected nodes; their children take their place"), {"Ctrl+Delete"}, Canvas);
  add("edit.select-all", Edit, Document, tr("Select all"), tr("Select every node"), {"Ctrl+A"}, Canvas);
  add("edit.find", Edit, Document, tr("Find…"), tr("Find a node by its text"), {"Ctrl+F"});

  add("node.add", Node, Document, tr("Add…"), tr("Add a node: what fits the selected one comes first"),
      {"Tab", "Insert"}, Canvas);
  add("node.edit", Node, Document, tr("Edit text"), tr("Edit the selected node in the inspector"),
      {"Return", "Enter"}, Canvas);
  add("node.rename", Node, Document, tr("Rename"), tr("Give the selected node a name"), {"F2"}, Canvas);
  add("node.move-up", Node, Document, tr("Move up"), tr("Move the selected node before its sibling"),
      {"Ctrl+Up"}, Canvas);
  add("node.move-down", Node, Document, tr("Move down"), tr("Move the selected node behind its sibling"),
      {"Ctrl+Down"}, Canvas);
  add("node.disconnect", Node, Document, tr("Disconnect"), tr("Take the selected node out of its parent"),
      {"Shift+Delete"}, Canvas);
  add("node.replace", Node, Document, tr("Replace operator…"),
      tr("Another operator in place, around it where it holds no text"), {"Ctrl+R"}, Canvas);
  add("node.wrap", Node, Document, tr("Wrap in…"), tr("Put a node around the selected ones"), {"W"}, Canvas);
  add("node.plus-cross", Node, Document, tr("Plus ⇄ cross"), tr("Make a plus a cross or a cross a plus"),
      {"X"}, Canvas);
  add("node.make-root", Node, Document, tr("Make this the query"),
      tr("The tree of the selected node becomes the query"));
  add("node.mute", Node, Document, tr("Mute"), tr("Leave the branch out when running"), {"M"}, Canvas);
  add("node.freeze", Node, Document, tr("Freeze answer"),
      tr("Use the last answers instead of running the node again"), {"Z"}, Canvas);
  add("node.collapse", Node, Document, tr("Collapse"), tr("Hide what is under the node"), {"H"}, Canvas);
  add("node.stack", Node, Document, tr("Open or stack"),
      tr("Draw each input of a stack, or stack again those that there is no room for"), {"S"}, Canvas);
  add("node.frame", Node, Document, tr("Frame"), tr("A titled frame around the selected nodes"), {"Ctrl+G"},
      Canvas);
  add("node.note", Node, Document, tr("Note"), tr("A text on the canvas"), {"Shift+N"}, Canvas);
  add("node.tidy", Node, Document, tr("Tidy layout"), tr("Lay out the selected nodes, or all, as a tree"),
      {"Ctrl+L"});
  add("node.reroute", Node, Document, tr("Reroute wire"),
      tr("Put a point into the wire above the selected node, to drag the wire around nodes"));
  add("node.next-bend", Node, Document, tr("Next reroute point"),
      tr("Choose a reroute point of the wire above the selected node: arrows move it, Shift+arrows by a "
         "pixel"),
      {"B"}, Canvas);
  add("node.straighten", Node, Document, tr("Straighten wire"),
      tr("Remove the reroute points of the wires above the selected nodes"));
  add("node.align-left", Node, Document, tr("Align left"),
      tr("Line up the left edges of the selected nodes; select two or more"));
  add("node.align-center", Node, Document, tr("Align center"),
      tr("Put the selected nodes below each other's centers; select two or more"));
  add("node.align-right", Node, Document, tr("Align right"),
      tr("Line up the right edges of the selected nodes; select two or more"));
  add("node.align-top", Node, Document, tr("Align top"),
      tr("Line up the upper edges of the selected nodes; select two or more"));
  add("node.align-middle", Node, Document, tr("Align middle"),
      tr("Put the centers of the selected nodes at one height; select two or more"));
  add("node.align-bottom", Node, Document, tr("Align bottom"),
      tr("Line up the lower edges of the selected nodes; select two or more"));
  add("node.distribute-across", Node, Document, tr("Distribute horizontally"),
      tr("Make the gaps between the selected nodes equal, from left to right; select three or more"));
  add("node.distribute-down", Node, Document, tr("Distribute vertically"),
      tr("Make the gaps between the selected nodes equal, from top to bottom; select three or more"));

  add("run.run", Run, Document, tr("Run"), tr("Run the query"), {"Ctrl+Return", "Ctrl+Enter"});
  add("run.run-selected", Run, Document, tr("Run selected"), tr("Run the subtree of the selected node"),
      {"Ctrl+Shift+Return", "Ctrl+Shift+Enter"});
  add("run.stop", Run, Program, tr("Stop"), tr("Stop the run"), {"Ctrl+."});
  add("run.attention", Run, Document, tr("Compute attention again"),
      tr("Replay the answer for the layer and head of the attention view, to see its blocks and tokens"));
  add("run.turn", Run, Document, tr("Compute a turn"),
      tr("Compute the query and the key of the pair of tokens in the turn view"));
  add("run.next-token", Run, Document, tr("Compute alternatives"),
      tr("Compute what else might have stood in the answer, under two policies"));
  add("run.fidelity", Run, Document, tr("Measure fidelity"),
      tr("Hold the answers of the run in view against a full prefill of the same tokens"));
  add("run.benchmark", Run, Document, tr("Benchmark…"),
      tr("Run the query again and again, to see what the cache saves"));
  add("run.policies", Run, Document, tr("Compare policies…"),
      tr("Run the query under several reuse policies, and see times, answers and fidelity side by side"));
  add("run.experiment", Run, Document, tr("Experiments…"),
      tr("Sweep documents, generates or policies on the model of this document, and draw what comes of it"));
  add("run.choose-model", Run, Document, tr("Choose a model…"),
      tr("The models of this machine, in the menu at the top"));
  add("run.choose-template", Run, Document, tr("Chat template…"),
      tr("The model's chat template as it stands, and those that can be chosen in its place"));
  add("run.servers", Run, Program, tr("Servers…"),
      tr("The servers that queries can run on: add, ask and remove them"));
  add("run.serve", Run, Program, tr("Serve this model"),
      tr("Let programs on this machine use this window's model and cache, or end that"));
  add("run.requests", Run, Program, tr("Requests of other programs"),
      tr("Show or hide the list of what other programs ask of this window"));
  add("run.use-adapter", Run, Document, tr("Use the fitting adapter"),
      tr("The bundled adapter that trains the loaded model for block attention, from the next run on"));
  add("run.clear-cache", Run, Document, tr("Empty the cache"), tr("Forget every stored block"));
  add("run.record", Run, Document, tr("Record events…"),
      tr("Record the events of all runs from now on in a trace file"));
  add("run.save-trace", Run, Document, tr("Save run…"),
      tr("Save the events of the run in view as a recording"));
  add("run.keep", Run, Program, tr("Keep runs after quitting"),
      tr("Have runs in the lists again when Spanscope is started the next time"));
  add("run.step-back", Run, Document, tr("Step back"), tr("One event back"), {"Alt+PgUp"});
  add("run.step-forward", Run, Document, tr("Step forward"), tr("One event on"), {"Alt+PgDown"});
  add("run.foretell", Run, Document, tr("Show a server's blocks as a run"),
      tr("What the cache of the server that the forecast shows would do, block by block: a foretold run"),
      {"Alt+B"});
  add("run.remove-foretold", Run, Document, tr("Remove the foretold run"),
      tr("Take the foretold run in view out of the list of runs"), {"Alt+Shift+B"});
  add("run.older", Run, Document, tr("Older run"), tr("Show the run of this document before the one in view"),
      {"Alt+Shift+Left"});
  add("run.newer", Run, Document, tr("Newer run"), tr("Show the run of this document after the one in view"),
      {"Alt+Shift+Right"});
  add("run.to-end", Run, Document, tr("Back to now"), tr("Show the newest state"), {"Alt+End"});

  add("view.author", View, Document, tr("Author layout"), tr("Docks for writing a query"), {"Alt+1"});
  add("view.explain", View, Document, tr("Explain layout"),
      tr("Docks for seeing what the cache and the attention did"), {"Alt+2"});
  add("view.measure", View, Document, tr("Measure layout"), tr("Docks for numbers"), {"Alt+3"});
  add("view.back", View, Document, tr("Back"), tr("Select what was selected before"), {"Alt+Left"});
  add("view.forward", View, Document, tr("Forward"), tr("Select what was selected before going back"),
      {"Alt+Right"});
  add("view.reset", View, Document, tr("Reset layout"),
      tr("Put the docks of this layout back in their places"));
  add("view.maximise", View, Document, tr("Maximise dock"),
      tr("Give the dock that has the focus the whole window, or put it back"), {"F11"});
  add("view.float", View, Document, tr("Float dock"),
      tr("Give the dock that has the focus a window of its own, or put it back"), {"Shift+F11"});
  add("view.next-tab", View, Document, tr("Next document"), tr("Go to the next tab"),
      {"Ctrl+PgDown", "Ctrl+Tab"});
  add("view.previous-tab", View, Document, tr("Previous document"), tr("Go to the tab before"),
      {"Ctrl+PgUp", "Ctrl+Shift+Tab"});
  add("view.tabs", View, Document, tr("Documents…"), tr("List the open documents"), {"Ctrl+Shift+O"});
  add("view.canvas", View, Document, tr("Go to the canvas"),
      tr("The keys are the canvas's again, from any text or dock; Esc does the same"), {"F6"});
  add("view.zoom-in", View, Document, tr("Zoom in"), tr("Larger nodes"), {"Ctrl++", "Ctrl+="});
  add("view.zoom-out", View, Document, tr("Zoom out"), tr("Smaller nodes"), {"Ctrl+-"});
  add("view.zoom-reset", View, Document, tr("Zoom to 100 %"), tr("Nodes at their own size"), {"Ctrl+0"});
  add("view.fit-all", View, Document, tr("Fit all"),
      tr("Show the query as large as can be read, and once more all of it"), {"Home"}, Canvas);
  add("view.fit-selection", View, Document, tr("Fit selection"), tr("Show the selected nodes"), {"F", "."},
      Canvas);
  add("view.minimap", View, Document, tr("Minimap"), tr("Show or hide the overview of the canvas"),
      {"Alt+M"});
  add("view.forecast", View, Document, tr("Forecast on nodes"),
      tr("Show or hide on each node what the next run would find in the cache"), {"Shift+F"}, Canvas);
  add("view.theme", View, Program, tr("Light or dark"), tr("Switch between the light and the dark theme"),
      {"Ctrl+Shift+L"});
  add("view.wheel", View, Document, tr("Wheel: scrolls or zooms"),
      tr("Whether the wheel scrolls the canvas, or zooms it; with Ctrl it does the other"));
  add("view.drag", View, Document, tr("Drag on the canvas: selects or pans"),
      tr("Whether a drag on empty canvas selects nodes, or moves the view; with Shift it always selects"));
  add("view.snap", View, Document, tr("Snap dragged nodes: on or off"),
      tr("Whether a dragged node snaps to the edges and centers of others, and to the grid; Alt moves it "
         "freely"));
  add("view.motion", View, Program, tr("Motion: as the system, or off"),
      tr("Whether pictures move while a trace is played"));

  add("learn.lessons", Learn, Program, tr("Lessons"),
      tr("All lessons, or the one that is open; in the lesson, all of them"), {"F9"});
  add("learn.next", Learn, Program, tr("Next step"), tr("Go on in the lesson"), {"F8"});
  add("learn.back", Learn, Program, tr("Step before"),
      tr("The step before: document, run and views as they were then"), {"F7"});
  add("learn.return", Learn, Program, tr("Back to the step"),
      tr("After playing freely: document, run and views as the lesson left them"), {"Shift+F9"});
  add("learn.present", Learn, Program, tr("Present"),
      tr("The step and what it speaks of on the whole screen; Page Up and Page Down turn, Esc ends"), {"F5"});
  add("learn.save-page", Learn, Program, tr("Save the lesson as a page…"),
      tr("Run it once more, and write one web page with pictures of each step, for a class"));
  add("learn.server", Learn, Program, tr("Run this lesson on…"),
      tr("Choose the embedded engine or a server for the runs of this lesson"));
  add("learn.leave", Learn, Program, tr("Leave the lesson"), tr("Close it; how far you came is kept"));
  add("learn.record", Learn, Document, tr("Record a lesson"),
      tr("What you do becomes the steps of a lesson; you write the text beside it"));
  add("learn.open-file", Learn, Program, tr("Open a lesson file…"),
      tr("A lesson that somebody has written: a Markdown file"));

  add("help.palette", Help, Program, tr("Commands…"), tr("Find a command by its name"),
      {"Ctrl+K", "Ctrl+Shift+P"});
  add("help.manual", Help, Program, tr("Manual"),
      tr("The page on the dock that has the focus, or the contents"), {"F1"});
  add("help.keys", Help, Program, tr("Keys"), tr("All keys on one sheet"), {"?"});
  add("help.change-keys", Help, Program, tr("Change keys…"), tr("Give commands other keys"));
  add("help.about", Help, Program, tr("About Spanscope"), tr("Versions and device"));
  return table;
}

}  // namespace

QString categoryTitle(CommandCategory category) {
  switch (category) {
    case CommandCategory::File:
      return tr("File");
    case CommandCategory::Edit:
      return tr("Edit");
    case CommandCategory::Node:
      return tr("Node");
    case CommandCategory::Run:
      return tr("Run");
    case CommandCategory::View:
      return tr("View");
    case CommandCategory::Learn:
      return tr("Learn");
    case CommandCategory::Help:
      return tr("Help");
  }
  return {};
}

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

QString subMenuOf(const QString& id) {
  struct SubMenu {
    QString title;
    std::vector<QLatin1String> begins;  ///< of ids
  };
  static const std::vector<SubMenu> all = {
      {tr("Align and distribute"), {QLatin1String("node.align-"), QLatin1String("node.distribute-")}},
      {tr("Compute"),
       {QLatin1String("run.attention"), QLatin1String("run.turn"), QLatin1String("run.next-token"),
        QLatin1String("run.fidelity")}},
      {tr("Steps and runs"),
       {QLatin1String("run.step-"), QLatin1String("run.foretell"), QLatin1String("run.remove-foretold"),
        QLatin1String("run.older"), QLatin1String("run.newer"), QLatin1String("run.to-end")}},
      {tr("Zoom"), {QLatin1String("view.zoom-"), QLatin1String("view.fit-")}},
      {tr("Canvas"),
       {QLatin1String("view.minimap"), QLatin1String("view.forecast"), QLatin1String("view.wheel"),
        QLatin1String("view.drag"), QLatin1String("view.snap")}}};
  for (const SubMenu& menu : all) {
    for (const QLatin1String begin : menu.begins)
      if (id.startsWith(begin)) return menu.title;
  }
  return {};
}

const QStringList& linkCommands() {
  static const QStringList ids{QStringLiteral("file.open-example"), QStringLiteral("view.dock"),
                               QStringLiteral("learn.lesson"),      QStringLiteral("run.show"),
                               QStringLiteral("run.show-request"),  QStringLiteral("run.keep-request")};
  return ids;
}

}  // namespace spanscope::ui
