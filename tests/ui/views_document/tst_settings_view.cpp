// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/policy.h"
#include "tests/ui/views_document/view_bench.h"
#include "ui/views/document/checked_field.h"
#include "ui/views/document/settings_view.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>
#include <QTest>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::ui::testing::ViewBench;

namespace {

struct Fixture {
  SettingsView view;
  ViewBench bench;

  Fixture() : bench(view, R"({"user": "a"})") { bench.show({360, 620}); }

  const document::RunSettings& settings() { return bench.document().settings; }
  template <class T>
  T* child(const char* name) {
    T* found = view.findChild<T*>(QString::fromLatin1(name));
    if (found == nullptr) qFatal("no widget %s", name);
    return found;
  }
  void choose(const char* name, int index) {
    auto* combo = child<QComboBox>(name);
    combo->setCurrentIndex(index);
    Q_EMIT combo->activated(index);
  }
};

}  // namespace

class TestSettingsView : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void showsAndChanges();
  void refusesWhatIsNone();
  void saysTheExactness();
  void stepsBlockSizesByTwo();
  void everyChangeIsUndone();
  void layerTexts();
};

void TestSettingsView::showsAndChanges() {
  Fixture f;
  f.bench.picture(QStringLiteral("settings"));
  f.choose("kvType", 1);
  QCOMPARE(f.settings().kvType, std::string("bf16"));
  f.choose("outputForm", 1);
  QCOMPARE(f.settings().outputForm, std::string("reused"));
  f.child<QSpinBox>("blockCount")->setValue(1024);
  QCOMPARE(f.settings().blockCount, 1024);
  f.child<QSpinBox>("threads")->setValue(2);
  QCOMPARE(f.settings().threads, 2);
  f.child<QSpinBox>("maxTokens")->setValue(64);
  QCOMPARE(f.settings().maxTokens, 64);
  auto* observe = f.child<QCheckBox>("observe");
  QTest::mouseClick(observe, Qt::LeftButton, {}, QPoint(8, observe->height() / 2));
  QVERIFY(!f.settings().observe);
  QVERIFY(!f.child<QCheckBox>("observeRows")->isEnabled());
  auto* distribute = f.child<QCheckBox>("distribute");
  QTest::mouseClick(distribute, Qt::LeftButton, {}, QPoint(8, distribute->height() / 2));
  QVERIFY(!f.settings().distribute);
  QCOMPARE(f.bench.model().undoStack().count(), 7);
  QVERIFY(!f.child<QLineEdit>("reducePrompt")->isEnabled());
  f.child<QSpinBox>("locality")->setValue(4);
  QCOMPARE(f.settings().locality, 4);
  f.choose("localityShape", 1);
  QCOMPARE(f.settings().localityShape, std::string("map-reduce"));
  auto* reduce = f.child<QLineEdit>("reducePrompt");
  QVERIFY(reduce->isEnabled());
  reduce->setFocus();
  QTest::keyClicks(reduce, QStringLiteral("Which is best?"));
  QCOMPARE(f.settings().reducePrompt, std::string("Which is best?"));
}

void TestSettingsView::refusesWhatIsNone() {
  Fixture f;
  auto* seed = f.child<CheckedField>("seed");
  seed->line()->setFocus();
  seed->line()->selectAll();
  QTest::keyClicks(seed->line(), QStringLiteral("18446744073709551615"));
  QCOMPARE(f.settings().seed, std::uint64_t{18446744073709551615ULL});
  QTest::keyClicks(seed->line(), QStringLiteral("0"));
  QVERIFY(!seed->reason().isEmpty());
  QCOMPARE(f.settings().seed, std::uint64_t{18446744073709551615ULL});
  auto* layers = f.child<CheckedField>("layers");
  layers->line()->setFocus();
  layers->line()->selectAll();
  QTest::keyClicks(layers->line(), QStringLiteral("3, 1"));
  QCOMPARE(f.settings().layers, (std::vector<std::int32_t>{1, 3}));
  QCOMPARE(layers->text(), QStringLiteral("3, 1"));
  QTest::keyClicks(layers->line(), QStringLiteral(", x"));
  QVERIFY(!layers->reason().isEmpty());
}

void TestSettingsView::saysTheExactness() {
  Fixture f;
  const auto says = [&f](run::Policy policy) {
    for (const QLabel* label : f.view.findChildren<QLabel*>()) {
      if (label->text() == QString::fromUtf8(run::exactness(policy))) return true;
    }
    return false;
  };
  QVERIFY(says(run::Policy::Spans));
  f.choose("policy", 1);
  QCOMPARE(f.settings().policy, std::string("prefix"));
  QVERIFY(says(run::Policy::Prefix));
}

void TestSettingsView::stepsBlockSizesByTwo() {
  Fixture f;
  auto* size = f.child<QSpinBox>("blockSize");
  size->stepUp();
  QCOMPARE(f.settings().blockSize, 32);
  size->stepDown();
  size->stepDown();
  QCOMPARE(f.settings().blockSize, 8);
  QTest::keyClick(size, Qt::Key_Down);
  QCOMPARE(f.settings().blockSize, 4);
}

void TestSettingsView::everyChangeIsUndone() {
  Fixture f;
  const document::Document before = f.bench.document();
  f.choose("policy", 1);
  f.child<QSpinBox>("blockSize")->stepUp();
  f.bench.model().undoStack().setIndex(0);
  QVERIFY(f.bench.document() == before);
  QCOMPARE(f.child<QSpinBox>("blockSize")->value(), 16);
  QCOMPARE(f.child<QComboBox>("policy")->currentIndex(), 0);
}

void TestSettingsView::layerTexts() {
  QCOMPARE(layersText({}), QStringLiteral("all"));
  QCOMPARE(layersText({0, 2}), QStringLiteral("0, 2"));
  QCOMPARE(readLayers(QStringLiteral(" all ")), std::vector<std::int32_t>());
  QCOMPARE(readLayers(QStringLiteral("2,0,2")), (std::vector<std::int32_t>{0, 2}));
  QVERIFY(!readLayers(QStringLiteral("0,,1")));
  QVERIFY(!readLayers(QStringLiteral("-1")));
}

QTEST_MAIN(TestSettingsView)
#include "tst_settings_view.moc"
