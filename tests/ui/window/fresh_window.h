// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/backends.h"
#include "ui/window/main_window.h"

#include <QSettings>
#include <QSize>
#include <QString>
#include <QTemporaryDir>
#include <QTest>

#include <memory>
#include <utility>

namespace spanscope::test {

/// A window as a user sees it at the first start of the program. Settings and unsaved work are in a temporary
/// folder, which is removed with the window.
class FreshWindow {
 public:
  explicit FreshWindow(compute::Backends backends = cpuBackends())
      : m_backends(std::move(backends)),
        m_settings(path(QStringLiteral("settings.ini")), QSettings::IniFormat),
        m_window(make()) {}

  /// Shows the window. Returns false if it did not appear.
  bool show(QSize size = {1280, 800}) {
    m_window->resize(size);
    m_window->show();
    return QTest::qWaitForWindowExposed(m_window.get());
  }
  /// Closes the window and opens a new one, as if the program was started again.
  bool reopen(QSize size = {1280, 800}) {
    m_window->close();
    m_window.reset();
    m_window = make();
    return show(size);
  }
  ui::MainWindow& window() { return *m_window; }
  QSettings& settings() { return m_settings; }
  /// The path of a file in the window's folder.
  QString path(const QString& name) const { return m_folder.filePath(name); }

 private:
  std::unique_ptr<ui::MainWindow> make() {
    return std::make_unique<ui::MainWindow>(m_settings, path(QStringLiteral("autosave")), m_backends);
  }

  compute::Backends m_backends;
  QTemporaryDir m_folder;
  QSettings m_settings;
  std::unique_ptr<ui::MainWindow> m_window;  ///< destroyed before the objects that it uses
};

}  // namespace spanscope::test
