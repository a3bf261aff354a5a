// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/commands/command_table.h"

#include "ui/words/tr.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QKeyEvent>
#include <QKeySequence>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSettings>
#include <QTextEdit>

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

  add("file.new", File, Program, tr("New query"), tr("Open an empty query in a new tab"), {"Ctrl+N"});
  add("file.open", File, Program, tr("Open…"), tr("Open a query or a recorded run"), {"Ctrl+O"});
  add("file.open-log", File, Program, tr("Open log…"),
      tr("Find out why the prompts of a request log missed the cache"), {"Ctrl+Alt+O"});
  add("file.stop-log", File, Program, tr("Stop diagnosis"), tr("Stop the diagnosis of the log"));
  add("file.add-files", File, Program, tr("Add files…"),
      tr("Add text files as documents under a plus, with the names of the files"), {"Ctrl+Shift+A"});
  add("file.add-folder", File, Program, tr("Add a folder…"),
      tr("Add every text of a folder and its subfolders as a document"));
  add("file.welcome", File, Program, tr("Welcome page"), tr("Show examples and recent files"));
  add("file.save", File, Document, tr("Save"), tr("Save the query"), {"Ctrl+S"});
  add("file.save-as", File, Document, tr("Save as…"), tr("Save the query under another name"),
      {"Ctrl+Shift+S"});
  add("file.export", File, Document, tr("Export query…"),
      tr("Export the query as JSON, curl or Python, for a server"), {"Ctrl+E"});
  add("file.export-view", File, Document, tr("Export view…"), tr("Export a view as a picture or a table"),
      {"Ctrl+Shift+E"});
  add("file.export-window", File, Document, tr("Export window…"), tr("Export the whole window as a picture"));
  add("file.close", File, Document, tr("Close tab"), tr("Close the current tab"), {"Ctrl+W"});
  add("file.quit", File, Program, tr("Quit"), tr("Close the window"), {"Ctrl+Q"});

  add("edit.undo", Edit, Document, tr("Undo"),
      tr("Undo the last change of the query. Settings do not change"), {"Ctrl+Z"});
  add("edit.redo", Edit, Document, tr("Redo"), tr("Redo the last undone change of the query"),
      {"Ctrl+Shift+Z", "Ctrl+Y"});
  add("edit.undo-setting", Edit, Document, tr("Undo setting"),
      tr("Undo the last change of a setting. The query does not change"), {"Ctrl+Alt+Z"});
  add("edit.redo-setting", Edit, Document, tr("Redo setting"), tr("Redo the last undone change of a setting"),
      {"Ctrl+Alt+Shift+Z"});
  add("edit.history", Edit, Document, tr("Undo history…"),
      tr("List all changes of the query and its settings, and return to any of them"));
  add("edit.cut", Edit, Document, tr("Cut"), tr("Cut the selected nodes, as JSON text"), {"Ctrl+X"}, Canvas);
  add("edit.copy", Edit, Document, tr("Copy"), tr("Copy the selected nodes, as JSON text"), {"Ctrl+C"},
      Canvas);
  add("edit.paste", Edit, Document, tr("Paste"),
      tr("Paste nodes, the JSON of a query, or a text as a message"), {"Ctrl+V"}, Canvas);
  add("edit.duplicate", Edit, Document, tr("Duplicate"), tr("Add a copy of the selected nodes next to them"),
      {"Ctrl+D"}, Canvas);
  add("edit.delete", Edit, Document, tr("Delete"), tr("Delete the selected nodes and everything under them"),
      {"Delete"}, Canvas);
  add("edit.delete-keep", Edit, Document, tr("Delete, keep children"),
      tr("Delete the selected nodes, but keep their children"), {"Ctrl+Delete"}, Canvas);
  add("edit.select-all", Edit, Document, tr("Select all"), tr("Select every node"), {"Ctrl+A"}, Canvas);
  add("edit.find", Edit, Document, tr("Find…"), tr("Find a node by its text"), {"Ctrl+F"});

  add("node.add", Node, Document, tr("Add…"), tr("Add a node; matching operators are listed first"),
      {"Tab", "Insert"}, Canvas);
  add("node.edit", Node, Document, tr("Edit text"), tr("Edit the selected node in the inspector"),
      {"Return", "Enter"}, Canvas);
  add("node.rename", Node, Document, tr("Rename"), tr("Rename the selected node"), {"F2"}, Canvas);
  add("node.move-up", Node, Document, tr("Move up"), tr("Move the selected node before its sibling"),
      {"Ctrl+Up"}, Canvas);
  add("node.move-down", Node, Document, tr("Move down"), tr("Move the selected node after its sibling"),
      {"Ctrl+Down"}, Canvas);
  add("node.disconnect", Node, Document, tr("Disconnect"), tr("Move the selected node out of its parent"),
      {"Shift+Delete"}, Canvas);
  add("node.replace", Node, Document, tr("Replace operator…"),
      tr("Change the operator, or wrap the node in another operator"), {"Ctrl+R"}, Canvas);
  add("node.wrap", Node, Document, tr("Wrap in…"), tr("Wrap the selected nodes in a new node"), {"W"},
      Canvas);
  add("node.plus-cross", Node, Document, tr("Swap plus and cross"),
      tr("Change a plus to a cross, or a cross to a plus"), {"X"}, Canvas);
  add("node.make-root", Node, Document, tr("Use draft as query"),
      tr("Use the tree of the selected draft as the query"));
  add("node.mute", Node, Document, tr("Mute"), tr("Exclude this branch from runs"), {"M"}, Canvas);
  add("node.freeze", Node, Document, tr("Freeze answer"),
      tr("Use the last answers instead of running the node"), {"Z"}, Canvas);
  add("node.collapse", Node, Document, tr("Collapse"), tr("Hide everything under the node"), {"H"}, Canvas);
  add("node.stack", Node, Document, tr("Toggle stack"), tr("Show each input of a stack, or stack the inputs"),
      {"S"}, Canvas);
  add("node.frame", Node, Document, tr("Add frame"), tr("Add a titled frame around the selected nodes"),
      {"Ctrl+G"}, Canvas);
  add("node.note", Node, Document, tr("Add note"), tr("Add a note to the canvas"), {"Shift+N"}, Canvas);
  add("node.tidy", Node, Document, tr("Tidy layout"),
      tr("Arrange the selected nodes, or all nodes, as a tree"), {"Ctrl+L"});
  add("node.reroute", Node, Document, tr("Reroute wire"),
      tr("Add a point to the wire above the selected node, to drag the wire around nodes"));
  add("node.next-bend", Node, Document, tr("Next reroute point"),
      tr("Select a reroute point of the wire above the selected node. Arrow keys move the point, with Shift "
         "by one pixel"),
      {"B"}, Canvas);
  add("node.straighten", Node, Document, tr("Straighten wire"),
      tr("Remove the reroute points of the wires above the selected nodes"));
  add("node.align-left", Node, Document, tr("Align left"),
      tr("Align the left edges of two or more selected nodes"));
  add("node.align-center", Node, Document, tr("Align center"),
      tr("Align the centers of two or more selected nodes in a column"));
  add("node.align-right", Node, Document, tr("Align right"),
      tr("Align the right edges of two or more selected nodes"));
  add("node.align-top", Node, Document, tr("Align top"),
      tr("Align the top edges of two or more selected nodes"));
  add("node.align-middle", Node, Document, tr("Align middle"),
      tr("Align the centers of two or more selected nodes in a row"));
  add("node.align-bottom", Node, Document, tr("Align bottom"),
      tr("Align the bottom edges of two or more selected nodes"));
  add("node.distribute-across", Node, Document, tr("Distribute horizontally"),
      tr("Make the horizontal gaps between three or more selected nodes equal"));
  add("node.distribute-down", Node, Document, tr("Distribute vertically"),
      tr("Make the vertical gaps between three or more selected nodes equal"));

  add("run.run", Run, Document, tr("Run"), tr("Run the query"), {"Ctrl+Return", "Ctrl+Enter"});
  add("run.run-selected", Run, Document, tr("Run selected"), tr("Run the branch of the selected node"),
      {"Ctrl+Shift+Return", "Ctrl+Shift+Enter"});
  add("run.stop", Run, Program, tr("Stop"), tr("Stop the run"), {"Ctrl+."});
  add("run.attention", Run, Document, tr("Recompute attention"),
      tr("Recompute the attention of the answer for the layer and head in the attention view"));
  add("run.rotation", Run, Document, tr("Compute rotation"),
      tr("Compute the query vector and the key for the token pair in the Rotation dock"));
  add("run.next-token", Run, Document, tr("Compute alternatives"),
      tr("Compute other likely tokens of the answer, under two policies"));
  add("run.fidelity", Run, Document, tr("Measure fidelity"),
      tr("Compare the answers of the shown run with a full prefill of the same tokens"));
  add("run.benchmark", Run, Document, tr("Benchmark…"),
      tr("Run the query repeatedly to measure how much time the cache saves"));
  add("run.policies", Run, Document, tr("Compare policies…"),
      tr("Run the query under several reuse policies, and compare times, answers and fidelity"));
  add("run.probe", Run, Document, tr("Probe this model…"),
      tr("Measure whether block attention is safe on this model, and recommend a reuse policy"));
  add("run.experiment", Run, Document, tr("Experiments…"),
      tr("Measure this model with different documents, generate nodes or policies, and plot the result"));
  add("run.choose-model", Run, Document, tr("Choose a model…"),
      tr("Choose a model of this machine in the menu at the top"));
  add("run.get-model", Run, Program, tr("Get a model…"),
      tr("Download a model from Hugging Face to this machine"));
  add("run.choose-template", Run, Document, tr("Chat template…"),
      tr("Show the model's chat template, or choose another one"));
  add("run.servers", Run, Program, tr("Servers…"), tr("Add, test and remove servers for queries"));
  add("run.watch", Run, Program, tr("Watch server…"),
      tr("Show the live cache of a running vLLM, SGLang or llama-server"));
  add("run.gateway", Run, Program, tr("Start gateway…"),
      tr("Pass the requests of other programs to servers, and show why prompts miss the cache"));
  add("run.serve", Run, Program, tr("Start server"),
      tr("Start or stop a local server with this window's model and cache"));
  add("run.requests", Run, Program, tr("Toggle requests panel"),
      tr("Show or hide the requests of other programs to this window"));
  add("run.use-adapter", Run, Document, tr("Use adapter"),
      tr("Use the bundled block-attention adapter of the loaded model, from the next run on"));
  add("run.clear-cache", Run, Document, tr("Empty the cache"), tr("Remove every stored block"));
  add("run.record", Run, Document, tr("Record events…"),
      tr("Record the events of all future runs to a trace file"));
  add("run.save-trace", Run, Document, tr("Save run…"),
      tr("Save the events of the shown run as a recording"));
  add("run.keep", Run, Program, tr("Keep runs after quitting"),
      tr("Save all listed runs for the next start of Spanscope"));
  add("run.step-back", Run, Document, tr("Step back"), tr("Go one event back"), {"Alt+PgUp"});
  add("run.step-forward", Run, Document, tr("Step forward"), tr("Go one event forward"), {"Alt+PgDown"});
  add("run.show-predicted", Run, Document, tr("Show blocks as a run"),
      tr("Add a predicted run that shows the cache of the server selected in Prediction"), {"Alt+B"});
  add("run.remove-predicted", Run, Document, tr("Remove predicted run"),
      tr("Remove the shown predicted run from the list of runs"), {"Alt+Shift+B"});
  add("run.older", Run, Document, tr("Older run"), tr("Show the previous run of this query"),
      {"Alt+Shift+Left"});
  add("run.newer", Run, Document, tr("Newer run"), tr("Show the next run of this query"),
      {"Alt+Shift+Right"});
  add("run.to-end", Run, Document, tr("Back to now"), tr("Show the newest state of the run"), {"Alt+End"});

  add("view.author", View, Document, tr("Author layout"), tr("Show the docks for writing a query"),
      {"Alt+1"});
  add("view.explain", View, Document, tr("Explain layout"),
      tr("Show the docks that explain cache and attention"), {"Alt+2"});
  add("view.measure", View, Document, tr("Measure layout"), tr("Show the docks with measurements"),
      {"Alt+3"});
  add("view.diagnose", View, Document, tr("Diagnose layout"),
      tr("Show the docks that explain the cache misses of a log"), {"Alt+4"});
  add("view.back", View, Document, tr("Back to previous selection"), tr("Return to the previous selection"),
      {"Alt+Left"});
  add("view.forward", View, Document, tr("Forward to next selection"),
      tr("Return to the selection before the last step back"), {"Alt+Right"});
  add("view.reset", View, Document, tr("Reset layout"),
      tr("Restore the default positions of the docks in this layout"));
  add("view.maximise", View, Document, tr("Maximize dock"),
      tr("Enlarge the focused dock to the whole window, or restore it"), {"F11"});
  add("view.float", View, Document, tr("Float dock"),
      tr("Move the focused dock to its own window, or restore it"), {"Shift+F11"});
  add("view.next-tab", View, Document, tr("Next tab"), tr("Go to the next tab"), {"Ctrl+PgDown", "Ctrl+Tab"});
  add("view.previous-tab", View, Document, tr("Previous tab"), tr("Go to the previous tab"),
      {"Ctrl+PgUp", "Ctrl+Shift+Tab"});
  add("view.tabs", View, Document, tr("Tabs…"), tr("List the open tabs"), {"Ctrl+Shift+O"});
  add("view.canvas", View, Document, tr("Go to the canvas"),
      tr("Move the keyboard focus to the canvas; Escape does the same"), {"F6"});
  add("view.zoom-in", View, Document, tr("Zoom in"), tr("Show larger nodes"), {"Ctrl++", "Ctrl+="});
  add("view.zoom-out", View, Document, tr("Zoom out"), tr("Show smaller nodes"), {"Ctrl+-"});
  add("view.zoom-reset", View, Document, tr("Zoom to 100 %"), tr("Show nodes at their own size"), {"Ctrl+0"});
  add("view.fit-all", View, Document, tr("Fit all"),
      tr("Fit the query at a readable size. Press again to fit the whole query"), {"Home"}, Canvas);
  add("view.fit-selection", View, Document, tr("Fit selection"), tr("Show the selected nodes"), {"F", "."},
      Canvas);
  add("view.minimap", View, Document, tr("Toggle minimap"), tr("Show or hide the overview of the canvas"),
      {"Alt+M"});
  add("view.prediction", View, Document, tr("Toggle prediction on nodes"),
      tr("Show or hide the prediction for the next run on each node"), {"Shift+F"}, Canvas);
  add("view.theme", View, Program, tr("Toggle dark theme"), tr("Switch between the light and the dark theme"),
      {"Ctrl+Shift+L"});
  add("view.wheel", View, Document, tr("Toggle wheel: scroll or zoom"),
      tr("Switch the wheel between scroll and zoom; Ctrl reverses this choice"));
  add("view.drag", View, Document, tr("Toggle drag: select or pan"),
      tr("Switch a drag on the empty canvas between select and pan; Shift always selects"));
  add("view.snap", View, Document, tr("Toggle snapping"),
      tr("Switch snapping of dragged nodes to nodes and grid on or off; Alt moves freely"));
  add("view.motion", View, Program, tr("Toggle motion"),
      tr("Switch animations of played traces on or off; the system can forbid animations"));

  add("learn.lessons", Learn, Program, tr("Open lessons"), tr("Show the open lesson, or the list of lessons"),
      {"F9"});
  add("learn.next", Learn, Program, tr("Next step"), tr("Go to the next step of the lesson"), {"F8"});
  add("learn.back", Learn, Program, tr("Previous step"),
      tr("Go to the previous step, with its query, runs and views"), {"F7"});
  add("learn.return", Learn, Program, tr("Back to the step"),
      tr("Restore the query, runs and views of the step"), {"Shift+F9"});
  add("learn.present", Learn, Program, tr("Present lesson"),
      tr("Show the step and its view on the whole screen. Page Up and Page Down change steps. Escape ends "
         "the presentation"),
      {"F5"});
  add("learn.save-page", Learn, Program, tr("Save the lesson as a page…"),
      tr("Run the lesson again, and write one web page with pictures of each step"));
  add("learn.server", Learn, Program, tr("Run this lesson on…"),
      tr("Choose the embedded engine or a server for the runs of this lesson"));
  add("learn.leave", Learn, Program, tr("Leave the lesson"), tr("Close the lesson; your progress is kept"));
  add("learn.record", Learn, Document, tr("Record a lesson"),
      tr("Record your actions as the steps of a lesson, and write the lesson's text"));
  add("learn.open-file", Learn, Program, tr("Open a lesson file…"), tr("Open a lesson: a Markdown file"));

  add("help.palette", Help, Program, tr("Commands…"), tr("Find a command by its name"),
      {"Ctrl+K", "Ctrl+Shift+P"});
  add("help.manual", Help, Program, tr("Open manual"),
      tr("Open the page of the focused dock, or the contents"), {"F1"});
  add("help.keys", Help, Program, tr("Show keys"), tr("Show all keys on one sheet"), {"?"});
  add("help.change-keys", Help, Program, tr("Change keys…"), tr("Change the keys of commands"));
  add("help.about", Help, Program, tr("About Spanscope"), tr("Show versions and device"));
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
       {QLatin1String("run.attention"), QLatin1String("run.rotation"), QLatin1String("run.next-token"),
        QLatin1String("run.fidelity")}},
      {tr("Steps and runs"),
       {QLatin1String("run.step-"), QLatin1String("run.show-predicted"),
        QLatin1String("run.remove-predicted"), QLatin1String("run.older"), QLatin1String("run.newer"),
        QLatin1String("run.to-end")}},
      {tr("Zoom"), {QLatin1String("view.zoom-"), QLatin1String("view.fit-")}},
      {tr("Canvas"),
       {QLatin1String("view.minimap"), QLatin1String("view.prediction"), QLatin1String("view.wheel"),
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
                               QStringLiteral("run.show-request"),  QStringLiteral("run.keep-request"),
                               QStringLiteral("log.choose"),        QStringLiteral("log.document"),
                               QStringLiteral("log.spans"),         QStringLiteral("log.settings"),
                               QStringLiteral("log.quality")};
  return ids;
}

namespace {

QList<QKeySequence> sequences(const QStringList& portable) {
  QList<QKeySequence> keys;
  for (const QString& key : portable) keys.append(QKeySequence(key, QKeySequence::PortableText));
  return keys;
}

/// Spin boxes and editable combo boxes give the focus to their line edit, or handle its keys.
bool isTextField(const QWidget* widget) {
  if (widget == nullptr) return false;
  if (qobject_cast<const QLineEdit*>(widget) != nullptr ||
      qobject_cast<const QTextEdit*>(widget) != nullptr ||
      qobject_cast<const QPlainTextEdit*>(widget) != nullptr) {
    return true;
  }
  if (widget->inherits("QAbstractSpinBox")) return true;
  const auto* combo = qobject_cast<const QComboBox*>(widget);
  return combo != nullptr && combo->isEditable();
}

/// Whether the key types, moves or deletes in a text: a key without Ctrl, Alt or Meta that is not a function
/// key.
bool belongsToText(const QKeyEvent& key) {
  if ((key.modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) != 0) return false;
  return !(key.key() >= Qt::Key_F1 && key.key() <= Qt::Key_F35) && key.key() != Qt::Key_Escape;
}

}  // namespace

QString shownKey(const CommandInfo& info) {
  return info.keys.isEmpty() ? QString()
                             : sequences({info.keys.first()}).first().toString(QKeySequence::NativeText);
}

QString shownKeys(const CommandInfo& info) {
  return QKeySequence::listToString(sequences(info.keys), QKeySequence::NativeText)
      .replace(QStringLiteral("; "), QStringLiteral(", "));
}

CommandActions::CommandActions(QWidget* window) : QObject(window) {
  for (const CommandInfo& info : commandTable()) {
    auto* action = new QAction(info.text, this);
    action->setStatusTip(info.help);
    action->setObjectName(info.id);
    if (info.scope == CommandScope::Window) {
      action->setShortcutContext(Qt::WindowShortcut);
    } else {
      action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    }
    // The window sets menu roles by id. Qt would guess roles from the text.
    action->setMenuRole(QAction::NoRole);
    connect(action, &QAction::triggered, this, [this, id = info.id] { Q_EMIT triggered(id); });
    m_actions.insert(info.id, action);
  }
  addWindow(window);
  setKeys({});
  qApp->installEventFilter(this);
}

void CommandActions::setKeys(const KeyBindings& keys) {
  for (const CommandInfo& info : keys.table()) {
    QAction* action = m_actions.value(info.id);
    const QString names = shownKeys(info);
    action->setShortcuts(sequences(info.keys));
    action->setToolTip(names.isEmpty() ? info.help : tr("%1 (%2)").arg(info.help, names));
  }
}

void CommandActions::addWindow(QWidget* widget) {
  for (const CommandInfo& info : commandTable()) {
    if (info.scope == CommandScope::Window) widget->addAction(m_actions.value(info.id));
  }
}

void CommandActions::addCanvas(QWidget* canvas) {
  for (const CommandInfo& info : commandTable()) {
    if (info.scope == CommandScope::Canvas) canvas->addAction(m_actions.value(info.id));
  }
}

QList<QAction*> CommandActions::actions(CommandCategory category) const {
  QList<QAction*> actions;
  for (const CommandInfo& info : commandTable()) {
    if (info.category == category) actions.append(m_actions.value(info.id));
  }
  return actions;
}

bool CommandActions::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride && isTextField(QApplication::focusWidget())) {
    // If the override is accepted, the text field gets an ordinary key press.
    const auto* key = static_cast<QKeyEvent*>(event);
    if (belongsToText(*key)) {
      event->accept();
      return true;
    }
  }
  return QObject::eventFilter(watched, event);
}

namespace {

constexpr QLatin1String kGroup("keys");

QKeySequence sequenceOf(const QString& key) {
  return QKeySequence(key, QKeySequence::PortableText);
}

QString portable(const QString& key) {
  return sequenceOf(key).toString(QKeySequence::PortableText);
}

QString nameOf(const CommandInfo& info) {
  return kGroup + QLatin1Char('/') + info.id;
}

}  // namespace

KeyBindings::KeyBindings(const QSettings& settings) {
  for (const CommandInfo& info : commandTable()) {
    if (!settings.contains(nameOf(info))) continue;
    QStringList keys;
    for (const QKeySequence& key : QKeySequence::listFromString(settings.value(nameOf(info)).toString())) {
      const bool isKey = !key.isEmpty() && key[0].key() != Qt::Key_unknown;
      if (isKey) keys << key.toString(QKeySequence::PortableText);
    }
    set(info, keys);
  }
}

QStringList KeyBindings::keys(const CommandInfo& info) const {
  return m_changed.value(info.id, info.keys);
}

bool KeyBindings::isChanged(const CommandInfo& info) const {
  return m_changed.contains(info.id);
}

void KeyBindings::set(const CommandInfo& info, const QStringList& keys) {
  if (keys == info.keys)
    m_changed.remove(info.id);
  else
    m_changed.insert(info.id, keys);
}

void KeyBindings::reset(const CommandInfo& info) {
  m_changed.remove(info.id);
}

void KeyBindings::assign(const CommandInfo& info, const QString& key) {
  const QString wanted = portable(key);
  for (const CommandInfo* other : conflicts(info, key)) {
    QStringList left;
    for (const QString& taken : keys(*other)) {
      if (sequenceOf(taken).matches(sequenceOf(wanted)) == QKeySequence::NoMatch &&
          sequenceOf(wanted).matches(sequenceOf(taken)) == QKeySequence::NoMatch)
        left << taken;
    }
    set(*other, left);
  }
  QStringList own = keys(info);
  if (!own.contains(wanted)) own << wanted;
  set(info, own);
}

std::vector<const CommandInfo*> KeyBindings::conflicts(const CommandInfo& info, const QString& key) const {
  std::vector<const CommandInfo*> found;
  const QKeySequence wanted = sequenceOf(key);
  for (const CommandInfo& other : commandTable()) {
    if (other.id == info.id) continue;
    const QStringList taken = keys(other);
    const bool isTaken = std::any_of(taken.begin(), taken.end(), [&wanted](const QString& each) {
      return sequenceOf(each).matches(wanted) != QKeySequence::NoMatch ||
             wanted.matches(sequenceOf(each)) != QKeySequence::NoMatch;
    });
    if (isTaken) found.push_back(&other);
  }
  return found;
}

std::vector<CommandInfo> KeyBindings::table() const {
  std::vector<CommandInfo> table = commandTable();
  for (CommandInfo& info : table) info.keys = keys(info);
  return table;
}

void KeyBindings::save(QSettings& settings) const {
  settings.remove(kGroup);
  for (const CommandInfo& info : commandTable()) {
    const auto changed = m_changed.find(info.id);
    if (changed == m_changed.end()) continue;
    QList<QKeySequence> keys;
    for (const QString& key : *changed) keys << sequenceOf(key);
    settings.setValue(nameOf(info), QKeySequence::listToString(keys, QKeySequence::PortableText));
  }
}

QString fixedUseOf(const QString& key) {
  const QKeySequence wanted = sequenceOf(key);
  const auto is = [&wanted](Qt::Key fixed) { return wanted == QKeySequence(fixed); };
  if (is(Qt::Key_F10)) return tr("opens the menu");
  if (is(Qt::Key_Escape)) return tr("cancels a gesture or closes a dialog");
  if (is(Qt::Key_Space)) return tr("moves the canvas together with the mouse");
  for (const Qt::Key arrow : {Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down}) {
    if (is(arrow)) return tr("moves from node to node");
  }
  return {};
}

namespace {

constexpr QLatin1Char kBeforeArgument(':');

}  // namespace

QString commandId(const QString& command) {
  return command.section(kBeforeArgument, 0, 0);
}

void CommandHandlers::add(const char* id, std::function<void()> does) {
  add(
      id, [] { return true; }, std::move(does));
}

void CommandHandlers::add(const char* id, std::function<bool()> when, std::function<void()> does,
                          std::function<QString()> title) {
  m_rows.push_back({.id = QString::fromLatin1(id),
                    .when = std::move(when),
                    .does = [does = std::move(does)](const QString&) { does(); },
                    .title = std::move(title)});
}

void CommandHandlers::addWithArgument(const char* id, std::function<bool()> when,
                                      std::function<void(const QString& argument)> does) {
  m_rows.push_back(
      {.id = QString::fromLatin1(id), .when = std::move(when), .does = std::move(does), .title = {}});
}

const CommandHandler* CommandHandlers::find(const QString& id) const {
  const auto found = std::find_if(m_rows.begin(), m_rows.end(),
                                  [&id](const CommandHandler& handler) { return handler.id == id; });
  return found == m_rows.end() ? nullptr : &*found;
}

bool CommandHandlers::can(const QString& command) const {
  const CommandHandler* handler = find(commandId(command));
  return handler != nullptr && handler->when();
}

bool CommandHandlers::perform(const QString& command) const {
  const CommandHandler* handler = find(commandId(command));
  if (handler == nullptr) return false;
  if (handler->when()) handler->does(command.section(kBeforeArgument, 1));
  return true;
}

}  // namespace spanscope::ui
