// SPDX-License-Identifier: GPL-3.0-or-later
// The window comes to rest in every size.
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"

#include <QApplication>
#include <QEvent>
#include <QObject>
#include <QSize>
#include <QString>
#include <QStringLiteral>
#include <QTest>
#include <QWindow>

#include <random>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

/// Counts what widgets do when they lay themselves out.
class LayoutCounter : public QObject {
 public:
  LayoutCounter() { qApp->installEventFilter(this); }
  std::size_t count() const { return m_count; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() == QEvent::LayoutRequest || event->type() == QEvent::Resize) ++m_count;
    return QObject::eventFilter(watched, event);
  }

 private:
  std::size_t m_count = 0;
};

}  // namespace

class TestRest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everySizeComesToRest_data() {
    QTest::addColumn<QString>("layout");
    QTest::addColumn<QString>("dock");
    for (const char* layout : {"author", "explain", "measure"}) {
      for (const char* dock : {"", "output"}) {
        QTest::addRow("%s, %s", layout, *dock == '\0' ? "as it is" : dock)
            << QString::fromLatin1(layout) << QString::fromLatin1(dock);
      }
    }
  }

  /// The sizes are given to the window of the system, as without a window manager: such a window may be
  /// smaller than the least that its content asks for.
  void everySizeComesToRest() {
    QFETCH(QString, layout);
    QFETCH(QString, dock);
    test::FreshWindow fresh;
    QVERIFY(fresh.show({1280, 800}));
    MainWindow& window = fresh.window();
    QVERIFY(window.openExample(QStringLiteral("rag.json")));
    window.perform(QStringLiteral("view.") + layout);
    if (!dock.isEmpty()) window.docks().reveal(dock);
    // What is painted is not what is tested.
    window.setUpdatesEnabled(false);
    std::vector<QSize> sizes{{1280, 330}, {1280, 300}, {1280, 250}, {640, 200}};
    std::mt19937 random(3);
    constexpr std::size_t kSizes = 167;  // a thousand in all
    while (sizes.size() < kSizes)
      sizes.emplace_back(320 + static_cast<int>(random() % 1300), 120 + static_cast<int>(random() % 800));
    const LayoutCounter counter;
    for (const QSize& size : sizes) {
      window.windowHandle()->resize(size);
      std::size_t before = 0;
      int quiet = 0;
      const std::size_t first = counter.count();
      // Rest is when nothing is laid out in several turns of the event loop.
      constexpr int kQuiet = 3;
      constexpr std::size_t kMost = 20'000;
      while (quiet < kQuiet && counter.count() - first < kMost) {
        before = counter.count();
        QCoreApplication::sendPostedEvents();
        QCoreApplication::processEvents();
        quiet = counter.count() == before ? quiet + 1 : 0;
      }
      QVERIFY2(quiet == kQuiet, qPrintable(QStringLiteral("no rest at %1×%2: %3 events")
                                               .arg(size.width())
                                               .arg(size.height())
                                               .arg(counter.count() - first)));
    }
  }
};

SPANSCOPE_TEST(tst_rest, TestRest, QApplication)
#include "tst_rest.moc"
