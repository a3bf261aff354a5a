// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/command_controller.h"

#include "ui/commands/command_palette.h"
#include "ui/commands/command_table.h"
#include "ui/commands/key_sheet.h"
#include "ui/editor/canvas.h"
#include "ui/lessons/lesson_list.h"
#include "ui/views/view.h"
#include "ui/window/dock.h"
#include "ui/window/dock_host.h"
#include "ui/window/lesson_controller.h"
#include "ui/window/window_parts.h"
#include "ui/window/workspace.h"

#include <QAction>
#include <QMainWindow>
#include <QMenu>
#include <QSettings>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace spanscope::ui {

CommandController::CommandController(QMainWindow& window, QSettings& settings, Workspace& workspace)
    : m_window(window),
      m_settings(settings),
      m_workspace(workspace),
      m_menu(std::make_unique<QMenu>()),
      m_actions(new CommandActions(&window)) {
  connect(m_actions, &CommandActions::triggered, this, &CommandController::perform);
  addCommands();
}

CommandController::~CommandController() = default;

void CommandController::addCommands() {
  m_handlers.add("help.palette", [this] { openPalette(); });
  m_handlers.add("help.keys",
                 [this] { KeySheet(m_keys.table(), m_workspace.input().theme, &m_window).exec(); });
  m_handlers.add("help.change-keys", [this] { changeKeys(); });
}

void CommandController::start(const WindowParts& parts, LessonController& lessons) {
  m_canvas = &parts.canvas;
  m_pages = &parts.pages;
  fillMenu(parts.docks, lessons);
  m_palette = new CommandPalette(&m_window);
  connect(m_palette, &CommandPalette::chosen, this, &CommandController::perform);
}

void CommandController::setTheme(const Theme& theme) {
  m_palette->setTheme(theme);
}

void CommandController::fillMenu(DockHost& docks, LessonController& lessons) {
  for (const CommandCategory category : kCommandCategories) {
    QMenu* menu = m_menu->addMenu(categoryTitle(category));
    menu->setToolTipsVisible(true);
    std::map<QString, QMenu*> within;
    for (QAction* action : m_actions->actions(category)) {
      const QString title = subMenuOf(action->objectName());
      QMenu*& own = title.isEmpty() ? menu : within[title];
      if (own == nullptr) {
        own = menu->addMenu(title);
        // The tool tip of a disabled entry names the missing condition.
        own->setToolTipsVisible(true);
      }
      own->addAction(action);
    }
    if (category == CommandCategory::Learn) lessons.fillMenu(*menu);
    if (category != CommandCategory::View) continue;
    menu->addSeparator();
    QMenu* shown = menu->addMenu(tr("Docks"));
    // A list of all docks would be higher than a small screen.
    auto* others = new QMenu(tr("In no layout"), shown);
    for (Dock* dock : docks.docks()) {
      const auto info = std::ranges::find(viewTable(), dock->id(), &ViewInfo::id);
      const bool isInLayout = info == viewTable().end() || !info->places.empty();
      (isInLayout ? shown : others)->addAction(dock->toggleViewAction());
    }
    shown->addMenu(others);
  }
}

void CommandController::perform(const QString& command) {
  const CommandInfo* info = findCommand(commandId(command));
  if (info != nullptr && !hasSubject(*info)) return;
  if (!m_handlers.perform(command)) m_canvas->perform(command);
  Q_EMIT performed(command);
}

bool CommandController::hasSubject(const CommandInfo& info) const {
  return info.subject == CommandSubject::Program || m_workspace.current() != nullptr;
}

bool CommandController::isOffered(const CommandInfo& info) const {
  if (!hasSubject(info) || (info.subject == CommandSubject::Document && m_pages->isWelcome())) return false;
  // The canvas checks its commands only when they are performed. Selections change without a notice to the
  // window. The key of a disabled action would go to the focused widget, where Tab moves the focus.
  const CommandHandler* own = m_handlers.find(info.id);
  return own == nullptr || own->when();
}

void CommandController::refresh() {
  for (const CommandInfo& info : commandTable()) {
    QAction* action = m_actions->action(info.id);
    action->setEnabled(isOffered(info));
    const CommandHandler* own = m_handlers.find(info.id);
    if (own != nullptr && own->title && hasSubject(info)) action->setText(own->title());
  }
}

void CommandController::readKeys() {
  m_keys = KeyBindings(m_settings);
  useKeys();
}

void CommandController::changeKeys() {
  KeyEditor dialog(m_keys, m_workspace.input().theme, &m_window);
  if (dialog.exec() != QDialog::Accepted) return;
  m_keys = dialog.keys();
  m_keys.save(m_settings);
  useKeys();
}

void CommandController::useKeys() {
  m_actions->setKeys(m_keys);
  KeyTexts texts;
  for (const CommandInfo& info : m_keys.table()) {
    if (!info.keys.isEmpty()) texts[info.id] = shownKey(info);
  }
  m_workspace.setKeys(std::move(texts));
  Q_EMIT keysChanged();
}

void CommandController::openPalette() {
  std::vector<PaletteEntry> entries = paletteEntries(m_keys.table(), [this](const QString& id) {
    const CommandInfo& info = *findCommand(id);
    const bool isCanvas = m_handlers.find(id) == nullptr && m_canvas->commands().find(id) != nullptr;
    return isOffered(info) && (isCanvas ? m_canvas->canPerform(id) : info.scope == CommandScope::Window);
  });
  // Entries have the current titles of the menu, such as "Stop server".
  for (PaletteEntry& entry : entries) {
    const CommandHandler* own = m_handlers.find(entry.info.id);
    if (own != nullptr && own->title && hasSubject(entry.info)) entry.info.text = own->title();
  }
  // Closed or covered docks are in the list by name.
  const QString show = QStringLiteral("view.dock");
  for (const ViewInfo& view : viewTable()) {
    CommandInfo info;
    info.id = show + QLatin1Char(':') + view.id;
    info.category = CommandCategory::View;
    info.text = view.title;
    info.help = view.help;
    entries.push_back(
        {.info = std::move(info), .enabled = m_handlers.find(show)->when() && !m_pages->isWelcome()});
  }
  const QString lesson = QStringLiteral("learn.lesson");
  for (const ListedLesson& listed : listedLessons()) {
    CommandInfo info;
    info.id = lesson + QLatin1Char(':') + listed.key;
    info.category = CommandCategory::Learn;
    info.text = tr("Lesson: %1").arg(listed.title);
    info.help = listed.after;
    entries.push_back({.info = std::move(info), .enabled = m_handlers.find(lesson)->when(), .byWords = true});
  }
  m_palette->open(std::move(entries));
}

}  // namespace spanscope::ui
