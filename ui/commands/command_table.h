// SPDX-License-Identifier: GPL-3.0-or-later
// The table of all commands. The program makes menus, tool tips, keys, the command palette and the key sheet
// from this table. A handler with the same id executes a command (CommandHandlers).
#pragma once

#include <QHash>
#include <QList>
#include <QObject>
#include <QString>
#include <QStringList>

#include <array>
#include <functional>
#include <vector>

class QSettings;

namespace spanscope::ui {

/// The menu that has a command.
enum class CommandCategory { File, Edit, Node, Run, View, Learn, Help };

/// All categories, in the order of the menus.
inline constexpr std::array kCommandCategories{
    CommandCategory::File, CommandCategory::Edit,  CommandCategory::Node, CommandCategory::Run,
    CommandCategory::View, CommandCategory::Learn, CommandCategory::Help};

QString categoryTitle(CommandCategory category);

/// The object of a command.
enum class CommandSubject {
  Program,   ///< works even if no document is open
  Document,  ///< needs an open document; available only while a document is visible
};

/// The place in which a command's keys work.
enum class CommandScope {
  Window,  ///< everywhere in the window
  Canvas,  ///< while the canvas has the focus
};

struct CommandInfo {
  QString id;  ///< "file.open"
  CommandCategory category = CommandCategory::File;
  CommandSubject subject = CommandSubject::Document;
  QString text;      ///< "Open…"
  QString help;      ///< one sentence
  QStringList keys;  ///< portable key sequences; may be empty
  CommandScope scope = CommandScope::Window;
};

const std::vector<CommandInfo>& commandTable();
const CommandInfo* findCommand(const QString& id);

/// The title of the submenu that has the command; empty: no submenu has it. Submenus keep menus short enough
/// for small screens.
QString subMenuOf(const QString& id);

/// Ids of commands that are in no menu, because they need an argument: "file.open-example:rag.json". Links
/// and buttons use these ids.
const QStringList& linkCommands();

// Keys, actions and handlers of the commands, under the ids of that table. Menus, buttons
// and keys trigger the actions. A handler executes a command and reports whether the command is enabled. The
// window and the canvas each have a list of handlers.

/// The keys of commands: the keys of the table, except where the user has changed them in the settings.
class KeyBindings {
 public:
  /// The keys of the table.
  KeyBindings() = default;
  /// The keys of the table, except where the settings have other keys under "keys/ID". Ignores texts in the
  /// settings that are not keys.
  explicit KeyBindings(const QSettings& settings);

  /// The keys of a command as portable key sequences. Menus show the first key. Empty: the command has no
  /// keys.
  QStringList keys(const CommandInfo& info) const;
  /// Whether the command has other keys than in the table.
  bool isChanged(const CommandInfo& info) const;
  bool isAnyChanged() const { return !m_changed.isEmpty(); }

  void set(const CommandInfo& info, const QStringList& keys);
  void reset(const CommandInfo& info);
  void resetAll() { m_changed.clear(); }
  /// Adds the key to the command, and removes all conflicting keys from other commands.
  void assign(const CommandInfo& info, const QString& key);

  /// Returns commands other than `info` with a key that equals `key`, begins with `key`, or is a prefix of
  /// `key`. With such a conflict, the key triggers neither command.
  std::vector<const CommandInfo*> conflicts(const CommandInfo& info, const QString& key) const;

  /// The command table with these keys, for menus, palette and key sheet.
  std::vector<CommandInfo> table() const;
  void save(QSettings& settings) const;

  bool operator==(const KeyBindings&) const = default;

 private:
  QHash<QString, QStringList> m_changed;  ///< by id
};

/// Returns the fixed use of a key that no command can have. Empty: a command can have the key.
QString fixedUseOf(const QString& key);

}  // namespace spanscope::ui
class QAction;
class QWidget;

namespace spanscope::ui {

/// The first key as native text; empty without keys.
QString shownKey(const CommandInfo& info);
/// All keys as native text, such as "Ctrl+Shift+Z, Ctrl+Y"; empty without keys.
QString shownKeys(const CommandInfo& info);

class CommandActions : public QObject {
  Q_OBJECT
 public:
  /// Keys of scope Window work in `window`.
  explicit CommandActions(QWidget* window);

  /// Sets the keys of all actions, also in menus and tool tips.
  void setKeys(const KeyBindings& keys);

  /// Makes keys of scope Window also work in this widget's window. A floating dock has its own window.
  void addWindow(QWidget* widget);
  /// Makes keys of scope Canvas work in this widget and its children. Call this function for each canvas.
  void addCanvas(QWidget* canvas);

  /// The action of a command; nullptr if the id is not in the table.
  QAction* action(const QString& id) const { return m_actions.value(id); }
  /// The actions in the menu of a category, in the order of the table.
  QList<QAction*> actions(CommandCategory category) const;

  bool eventFilter(QObject* watched, QEvent* event) override;

 Q_SIGNALS:
  void triggered(const QString& id);

 private:
  QHash<QString, QAction*> m_actions;
};

struct CommandHandler {
  QString id;                  ///< id from the command table or from linkCommands()
  std::function<bool()> when;  ///< whether the command is enabled
  std::function<void(const QString& argument)> does;
  std::function<QString()> title;  ///< the current title in the menu; null: the title of the table
};

class CommandHandlers {
 public:
  /// Adds a command that is enabled whenever its CommandInfo::subject exists.
  void add(const char* id, std::function<void()> does);
  void add(const char* id, std::function<bool()> when, std::function<void()> does,
           std::function<QString()> title = {});
  void addWithArgument(const char* id, std::function<bool()> when,
                       std::function<void(const QString& argument)> does);

  const std::vector<CommandHandler>& rows() const { return m_rows; }
  /// The row of a command; nullptr if the list does not have the command.
  const CommandHandler* find(const QString& id) const;

  /// Whether the list has `command` and the command is enabled. `command` is an id or "id:argument".
  bool can(const QString& command) const;
  /// Runs the command if the command is enabled. Returns false if the list does not have the command.
  bool perform(const QString& command) const;

 private:
  std::vector<CommandHandler> m_rows;
};

/// The id of a command with an argument: "node.add" for "node.add:plus".
QString commandId(const QString& command);

}  // namespace spanscope::ui
