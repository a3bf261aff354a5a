// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the base of tests that go through lessons in a window.
#pragma once

#include "tests/support/product_text.h"
#include "tests/ui/window/fresh_window.h"
#include "ui/lessons/lesson_reader.h"
#include "ui/window/lesson_controller.h"

#include <QLabel>
#include <QPushButton>
#include <QTest>

#include <memory>

namespace spanscope::ui {

inline constexpr int kWait = 60'000;  // milliseconds

/// Tests with a window, and the functions that operate its lessons.
class LessonWindow : public QObject {
 protected:
  bool openWindow() {
    m_fresh = std::make_unique<test::FreshWindow>();
    m_window = &m_fresh->window();
    return m_fresh->show();
  }
  void closeWindow() {
    m_window = nullptr;
    m_fresh.reset();
  }

  LessonReader& reader() { return m_window->lessons().reader(); }
  LessonCourse& course() { return *reader().course(); }
  void perform(const char* command) { m_window->perform(QString::fromLatin1(command)); }
  bool isIdle() {
    return QTest::qWaitFor([this] { return !course().isBusy(); }, kWait);
  }
  bool goTo(std::size_t step) {
    course().goTo(step);
    return isIdle() && course().problem().isEmpty() && course().step() == step;
  }
  QStringList shownTexts() {
    QStringList texts;
    for (const QLabel* label : reader().findChildren<QLabel*>()) texts.append(label->text());
    return texts;
  }
  /// Whether a dock shows that a question hides its content.
  static bool isHidden(const Dock& dock) {
    const auto* label = dock.findChild<QLabel*>(QStringLiteral("dockUnreported"));
    return label != nullptr && label->isVisibleTo(&dock) &&
           product_text::says(label->text(), "<hidden-until-answered>");
  }
  QPushButton* button(const QString& text) {
    for (QPushButton* one : reader().findChildren<QPushButton*>()) {
      if (one->text() == text && one->isVisible()) return one;
    }
    return nullptr;
  }

  std::unique_ptr<test::FreshWindow> m_fresh;
  MainWindow* m_window = nullptr;  ///< of m_fresh
};

}  // namespace spanscope::ui
