// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests of things done with an answer share: an example with a view, and a run of it to its end.
#pragma once

#include "tests/ui/window/example_window.h"

#include <QObject>
#include <QSignalSpy>
#include <QString>
#include <QStringLiteral>
#include <QTest>

#include <functional>
#include <memory>

namespace spanscope::test {

inline constexpr int kPatience = 60'000;  // milliseconds

/// Opens an example with a view before each test, and closes it afterwards.
template <class ShownView>
class AnsweringWindow {
 public:
  /// Opens "rag.json" in the layout Explain with this dock. Returns false if something did not appear.
  bool open(const char* dock) {
    m_fresh = std::make_unique<ExampleWindow<ShownView>>();
    return m_fresh->open("rag.json", "view.explain", dock);
  }
  void close() { m_fresh.reset(); }

  ui::MainWindow& window() const { return m_fresh->window(); }
  ui::Workspace& workspace() const { return m_fresh->window().workspace(); }
  /// The path of a file in the window's folder.
  QString path(const QString& name) const { return m_fresh->path(name); }
  ShownView& view() const { return *m_fresh->view(); }

  /// Performs a command that has the engine work, and waits for its end. Returns what went wrong, in words.
  QString perform(const QString& command) const {
    QSignalSpy ended(&workspace(), &ui::Workspace::jobEnded);
    window().perform(command);
    if (ended.isEmpty() && !ended.wait(kPatience)) return QStringLiteral("it did not end");
    return ended.front().front().toString();
  }
  /// Runs the document. What is shown of a run may come later than its end: `isShown` says when it is there.
  QString run(const std::function<bool()>& isShown) const {
    const QString problem = perform(QStringLiteral("run.run"));
    if (!problem.isEmpty()) return problem;
    return QTest::qWaitFor(isShown, kPatience) ? QString() : QStringLiteral("its answer is not shown");
  }

 private:
  std::unique_ptr<ExampleWindow<ShownView>> m_fresh;
};

}  // namespace spanscope::test
