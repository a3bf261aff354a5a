// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/ui/window/fresh_window.h"

#include <QLatin1String>
#include <QTest>

namespace spanscope::test {

/// A fresh window that shows a bundled example and the view that a test is about.
template <class ShownView>
class ExampleWindow : public FreshWindow {
 public:
  /// Opens the example and the dock. `layout` is the command of the layout that has the dock. Returns false
  /// if something did not appear.
  bool open(const char* example, const char* layout, const char* dock) {
    if (!show({1440, 900}) || !window().openExample(QLatin1String(example))) return false;
    window().perform(QLatin1String(layout));
    window().docks().reveal(QLatin1String(dock));
    m_view = qobject_cast<ShownView*>(window().docks().dock(QLatin1String(dock))->openView());
    return m_view != nullptr && QTest::qWaitFor([this] { return m_view->isVisible(); });
  }
  ShownView* view() const { return m_view; }

 private:
  ShownView* m_view = nullptr;  ///< the window owns it
};

}  // namespace spanscope::test
