// SPDX-License-Identifier: GPL-3.0-or-later
// What the window's own commands do, and when they can: a row a command, under its id in the command table.
#include "ui/commands/command_palette.h"
#include "ui/commands/key_editor.h"
#include "ui/commands/key_sheet.h"
#include "ui/document/recent_files.h"
#include "ui/lessons/lesson_list.h"
#include "ui/session/model_choices.h"
#include "ui/views/view.h"
#include "ui/window/document_controller.h"
#include "ui/window/lesson_controller.h"
#include "ui/window/lesson_recording.h"
#include "ui/window/main_window.h"
#include "ui/window/motion_setting.h"

#include <QAction>
#include <QApplication>

#include <algorithm>

namespace spanscope::ui {
namespace {

/// A text that may hold the name of a file, in which "&" is no key.
QString inMenu(QString text) {
  return text.replace(QLatin1Char('&'), QStringLiteral("&&"));
}

}  // namespace

void MainWindow::addCommands() {
  CommandHandlers& rows = m_commands;
  const auto undoStack = [this]() -> QUndoStack& { return m_workspace.model()->undoStack(); };
  const auto settingsStack = [this]() -> QUndoStack& { return m_workspace.model()->settingsUndoStack(); };

  rows.add("file.welcome", [this] {
    m_welcome->setRecentFiles(RecentFiles(m_settings).paths());
    m_pages->showWelcome();
  });
  rows.add("file.export-view", [this] { exportView(QStringLiteral("canvas")); });
  rows.add("file.export-window", [this] { exportView(QStringLiteral("window")); });
  rows.add("file.quit", [this] { close(); });

  rows.add(
      "edit.undo", [undoStack] { return undoStack().canUndo(); }, [undoStack] { undoStack().undo(); },
      [undoStack] {
        const QString name = undoStack().undoText();
        return name.isEmpty() ? tr("Undo") : tr("Undo “%1”").arg(name);
      });
  rows.add(
      "edit.redo", [undoStack] { return undoStack().canRedo(); }, [undoStack] { undoStack().redo(); },
      [undoStack] {
        const QString name = undoStack().redoText();
        return name.isEmpty() ? tr("Redo") : tr("Redo “%1”").arg(name);
      });
  rows.add(
      "edit.undo-setting", [settingsStack] { return settingsStack().canUndo(); },
      [settingsStack] { settingsStack().undo(); },
      [settingsStack] {
        const QString name = settingsStack().undoText();
        return name.isEmpty() ? tr("Undo setting") : tr("Undo setting “%1”").arg(inMenu(name));
      });
  rows.add(
      "edit.redo-setting", [settingsStack] { return settingsStack().canRedo(); },
      [settingsStack] { settingsStack().redo(); },
      [settingsStack] {
        const QString name = settingsStack().redoText();
        return name.isEmpty() ? tr("Redo setting") : tr("Redo setting “%1”").arg(inMenu(name));
      });
  rows.add(
      "edit.history",
      [undoStack, settingsStack] { return undoStack().count() > 0 || settingsStack().count() > 0; },
      [this] { m_documents->showUndoHistory(); });

  for (const ViewInfo& info : viewTable()) {
    // nullptr: the view has not been made yet.
    const auto view = [this, &info] {
      const Dock* dock = m_docks->dock(info.id);
      return dock == nullptr ? nullptr : dock->view();
    };
    for (const QString& command : info.commands) {
      rows.add(
          command.toUtf8().constData(),
          [view, command] { return view() != nullptr && view()->canPerform(command); },
          [view, command] { view()->perform(command); });
    }
  }
  rows.add("run.choose-model", [this] { m_topBar->showModels(); });
  rows.add("view.author", [this] { m_docks->setLayout(LayoutId::Author); });
  rows.add("view.explain", [this] { m_docks->setLayout(LayoutId::Explain); });
  rows.add("view.measure", [this] { m_docks->setLayout(LayoutId::Measure); });
  const auto focusedDock = [this] {
    Dock* dock = m_docks->dockOf(QApplication::focusWidget());
    return dock == nullptr ? m_docks->dock(QStringLiteral("canvas")) : dock;
  };
  const auto go = [this](int steps) {
    if (m_workspace.goThroughSelections(steps))
      m_canvas->reveal(m_workspace.current()->selection.currentNode());
  };
  rows.add(
      "view.back", [this] { return m_workspace.canGoThroughSelections(-1); }, [go] { go(-1); });
  rows.add(
      "view.forward", [this] { return m_workspace.canGoThroughSelections(1); }, [go] { go(1); });
  rows.add("view.maximise", [this, focusedDock] { m_docks->toggleMaximised(focusedDock()); });
  rows.add("view.float", [focusedDock] {
    Dock* dock = focusedDock();
    dock->setFloating(!dock->isFloating());
  });
  rows.add("view.next-tab", [this] { m_topBar->tabs().go(1); });
  rows.add("view.previous-tab", [this] { m_topBar->tabs().go(-1); });
  rows.add("view.tabs", [this] { m_topBar->tabs().showList(); });
  rows.add("view.canvas", [this] { m_canvas->setFocus(Qt::ShortcutFocusReason); });
  rows.add("view.reset", [this] { m_docks->resetLayout(); });
  rows.addWithArgument(
      "view.dock", [this] { return m_workspace.current() != nullptr; },
      [this](const QString& dock) { m_docks->reveal(dock); });
  rows.add("view.theme", [this] {
    setScheme(scheme() == Scheme::Light ? Scheme::Dark : Scheme::Light);
    m_settings.setValue(QStringLiteral("window/scheme"),
                        scheme() == Scheme::Dark ? QStringLiteral("dark") : QStringLiteral("light"));
  });

  rows.add("view.wheel", [this] {
    m_mouse.wheelZooms = !m_mouse.wheelZooms;
    useMouse();
    say(m_mouse.wheelZooms ? tr("The wheel zooms the canvas, and scrolls it with Ctrl.")
                           : tr("The wheel scrolls the canvas, and zooms it with Ctrl."));
  });
  rows.add("view.drag", [this] {
    m_mouse.dragPans = !m_mouse.dragPans;
    useMouse();
    say(m_mouse.dragPans ? tr("A drag on empty canvas moves the view, and selects with Shift.")
                         : tr("A drag on empty canvas selects nodes."));
  });
  rows.add("view.snap", [this] {
    m_mouse.snaps = !m_mouse.snaps;
    useMouse();
    say(m_mouse.snaps ? tr("Dragged nodes snap to others and to the grid. Alt moves them freely.")
                      : tr("Dragged nodes move freely."));
  });
  rows.add("view.motion", [this] {
    const bool isOff = m_settings.value(QLatin1String(kMotionSetting)) == QLatin1String("off");
    m_settings.setValue(QLatin1String(kMotionSetting),
                        isOff ? QStringLiteral("system") : QStringLiteral("off"));
    say(isOff ? tr("Playing shows motion, as far as the system asks for it.")
              : tr("Playing shows one event after another, without motion."));
  });

  rows.add("help.palette", [this] { openPalette(); });
  rows.addWithArgument(
      "help.manual", [] { return true; }, [this](const QString& page) { openManual(page); });
  rows.add("help.keys", [this] { KeySheet(m_keys.table(), m_workspace.input().theme, this).exec(); });
  rows.add("help.change-keys", [this] { changeKeys(); });
  rows.add("help.about", [this] { showAbout(); });
}

void MainWindow::useMouse() {
  m_settings.setValue(QStringLiteral("canvas/wheel"),
                      m_mouse.wheelZooms ? QStringLiteral("zoom") : QStringLiteral("scroll"));
  m_settings.setValue(QStringLiteral("canvas/drag"),
                      m_mouse.dragPans ? QStringLiteral("pan") : QStringLiteral("select"));
  m_settings.setValue(QStringLiteral("canvas/snap"),
                      m_mouse.snaps ? QStringLiteral("on") : QStringLiteral("off"));
  m_canvas->setMouse(m_mouse);
}

void MainWindow::perform(const QString& command) {
  const CommandInfo* info = findCommand(commandId(command));
  if (info != nullptr && !hasSubject(*info)) return;
  if (!m_commands.perform(command)) m_canvas->perform(command);
  m_lessons->recording().noteCommand(command);
  refresh();
}

bool MainWindow::hasSubject(const CommandInfo& info) const {
  return info.subject == CommandSubject::Program || m_workspace.current() != nullptr;
}

bool MainWindow::isOffered(const CommandInfo& info) const {
  if (!hasSubject(info) || (info.subject == CommandSubject::Document && isWelcome())) return false;
  // The canvas is asked when its command is carried out: selections come and go without the window, and a key
  // whose action is off would go to the focused widget instead, where Tab moves the focus.
  const CommandHandler* own = m_commands.find(info.id);
  return own == nullptr || own->when();
}

void MainWindow::refreshCommands() {
  for (const CommandInfo& info : commandTable()) {
    QAction* action = m_actions->action(info.id);
    action->setEnabled(isOffered(info));
    const CommandHandler* own = m_commands.find(info.id);
    if (own != nullptr && own->title && hasSubject(info)) action->setText(own->title());
  }
}

void MainWindow::changeKeys() {
  KeyEditor dialog(m_keys, m_workspace.input().theme, this);
  if (dialog.exec() != QDialog::Accepted) return;
  m_keys = dialog.keys();
  m_keys.save(m_settings);
  useKeys();
}

void MainWindow::useKeys() {
  m_actions->setKeys(m_keys);
  m_topBar->setKeys(m_keys);
  KeyTexts texts;
  for (const CommandInfo& info : m_keys.table()) {
    if (!info.keys.isEmpty()) texts[info.id] = shownKey(info);
  }
  m_welcome->setKeys(texts);
  m_workspace.setKeys(std::move(texts));
}

void MainWindow::openPalette() {
  std::vector<PaletteEntry> entries = paletteEntries(m_keys.table(), [this](const QString& id) {
    const CommandInfo& info = *findCommand(id);
    const bool isCanvas = m_commands.find(id) == nullptr && m_canvas->commands().find(id) != nullptr;
    return isOffered(info) && (isCanvas ? m_canvas->canPerform(id) : info.scope == CommandScope::Window);
  });
  // As in the menu: what would stop is called so.
  for (PaletteEntry& entry : entries) {
    const CommandHandler* own = m_commands.find(entry.info.id);
    if (own != nullptr && own->title && hasSubject(entry.info)) entry.info.text = own->title();
  }
  // A dock that was closed or covered is found by its name.
  const QString show = QStringLiteral("view.dock");
  for (const ViewInfo& view : viewTable()) {
    CommandInfo info;
    info.id = show + QLatin1Char(':') + view.id;
    info.category = CommandCategory::View;
    info.text = view.title;
    info.help = view.help;
    entries.push_back({.info = std::move(info), .enabled = m_commands.find(show)->when() && !isWelcome()});
  }
  const QString lesson = QStringLiteral("learn.lesson");
  for (const ListedLesson& listed : listedLessons()) {
    CommandInfo info;
    info.id = lesson + QLatin1Char(':') + listed.key;
    info.category = CommandCategory::Learn;
    info.text = tr("Lesson: %1").arg(listed.title);
    info.help = listed.after;
    entries.push_back({.info = std::move(info), .enabled = m_commands.find(lesson)->when(), .byWords = true});
  }
  m_palette->open(std::move(entries));
}

}  // namespace spanscope::ui
