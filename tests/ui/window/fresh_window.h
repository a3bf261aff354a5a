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

/// A window as a person sees it who starts the program for the first time: settings and unsaved work lie in a
/// folder of its own, which goes with it.
class FreshWindow {
 public:
  explicit FreshWindow(compute::Backends backends = cpuBackends())
      : m_backends(std::move(backends)),
        m_settings(path(QStringLiteral("settings.ini")), QSettings::IniFormat),
        m_window(make()) {}

  /// False: it did not come up.
  bool show(QSize size = {1280, 800}) {
    m_window->resize(size);
    m_window->show();
    return QTest::qWaitForWindowExposed(m_window.get());
  }
  /// The program is started again.
  bool reopen(QSize size = {1280, 800}) {
    m_window->close();
    m_window.reset();
    m_window = make();
    return show(size);
  }
  ui::MainWindow& window() { return *m_window; }
  QSettings& settings() { return m_settings; }
  /// Of a file in its folder.
  QString path(const QString& name) const { return m_folder.filePath(name); }

 private:
  std::unique_ptr<ui::MainWindow> make() {
    return std::make_unique<ui::MainWindow>(m_settings, path(QStringLiteral("autosave")), m_backends);
  }

  compute::Backends m_backends;
  QTemporaryDir m_folder;
  QSettings m_settings;
  std::unique_ptr<ui::MainWindow> m_window;  ///< ends before what it uses
};

}  // namespace spanscope::test
