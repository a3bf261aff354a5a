// SPDX-License-Identifier: GPL-3.0-or-later
// The manual, opened at the page on what a person is working in.
#include "engine/base/error.h"
#include "engine/workbench/resource_paths.h"
#include "ui/commands/command_table.h"
#include "ui/manual/manual_window.h"
#include "ui/window/main_window.h"

#include <QApplication>

namespace spanscope::ui {
namespace {

/// The page on the dock that holds the widget; the contents where none does.
QString pageFor(const QWidget* widget) {
  for (; widget != nullptr; widget = widget->parentWidget()) {
    if (const auto* dock = qobject_cast<const Dock*>(widget)) return manualPageOfDock(dock->id());
  }
  return QString::fromLatin1(kManualIndex);
}

}  // namespace

void MainWindow::openManual(const QString& page) {
  const QString wanted = page.isEmpty() ? pageFor(isWelcome() ? nullptr : QApplication::focusWidget()) : page;
  if (m_manual == nullptr) {
    try {
      const QString folder = QString::fromStdString((workbench::resourceDirectory() / "manual").string());
      m_manual = new ManualWindow(folder, this);
    } catch (const Failure& failure) {
      say(QString::fromUtf8(failure.what()));
      return;
    }
    connect(m_manual, &ManualWindow::dockWanted, this, [this](const QString& id) {
      // A dock shows nothing without a document.
      if (m_workspace.current() == nullptr) newDocument();
      showDocuments();
      m_docks->reveal(id);
      activateWindow();
    });
    connect(m_manual, &ManualWindow::commandWanted, this, [this](const QString& id) {
      const CommandInfo* info = findCommand(id);
      // Most commands need a document to act on.
      if (info != nullptr && !hasSubject(*info)) newDocument();
      if (info != nullptr && info->subject == CommandSubject::Document) showDocuments();
      activateWindow();
      perform(id);
    });
    connect(m_manual, &ManualWindow::exampleWanted, this, [this](const QString& fileName) {
      openExample(fileName);
      activateWindow();
    });
  }
  m_manual->setTheme(m_workspace.input().theme);
  m_manual->openPage(wanted);
  m_manual->show();
  m_manual->raise();
  m_manual->activateWindow();
}

}  // namespace spanscope::ui
