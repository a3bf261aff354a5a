// SPDX-License-Identifier: GPL-3.0-or-later
// The growth of the KV cache: the keys that each forward pass reads and adds.
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "ui/views/kv_growth/kv_growth_view.h"

#include <QApplication>
#include <QSlider>
#include <QTest>

using namespace spanscope;
using namespace spanscope::ui;

class TestKvGrowth : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    QApplication::setStyle(QStringLiteral("Fusion"));
    test::RunRecorder recorder;
    recorder.run(test::exampleDocument("rag.json"));
    m_recorded = recorder.recorded();
  }

  /// Five prompt tokens and three forward passes of one token: the passes compare 6, 7 and 8 keys.
  void stepsByHand_data() {
    QTest::addColumn<qint64>("comparisons");
    QTest::addColumn<quint64>("pass");
    QTest::addColumn<quint64>("compared");
    QTest::newRow("prompt") << qint64{0} << quint64{0} << quint64{0};
    QTest::newRow("first key") << qint64{1} << quint64{1} << quint64{1};
    QTest::newRow("own key") << qint64{6} << quint64{1} << quint64{6};
    QTest::newRow("second pass") << qint64{7} << quint64{2} << quint64{1};
    QTest::newRow("end") << qint64{21} << quint64{3} << quint64{8};
    QTest::newRow("beyond the end") << qint64{99} << quint64{3} << quint64{8};
  }
  void stepsByHand() {
    QFETCH(const qint64, comparisons);
    GrowthModel model;
    model.request = 1;
    model.prompt = 5;
    model.keys.resize(8);
    model.next = {QStringLiteral("a"), QStringLiteral("b"), QStringLiteral("c"), QStringLiteral("d")};
    QCOMPARE(model.comparisons(), std::int64_t{21});
    const GrowthStep step = growthStep(model, comparisons);
    QTEST(quint64{step.pass}, "pass");
    QTEST(quint64{step.compared}, "compared");
    QCOMPARE(growthStep({}, comparisons), GrowthStep());
  }

  /// Each token of the answer but the last adds one key, and the tokens are in the order of the answer.
  void aRunAddsAKeyPerToken() {
    const ViewInput input = m_recorded.input();
    const GrowthModel model = growthModel(input);
    const auto& request = input.state().progress().requests.at(input.shownRequest());
    QCOMPARE(static_cast<std::int64_t>(model.prompt), std::int64_t{request.promptTokens});
    QCOMPARE(static_cast<std::int64_t>(model.next.size()), std::int64_t{request.generatedTokens});
    QCOMPARE(model.keys.size(), model.prompt + model.passes());
    for (std::size_t pass = 1; pass <= model.passes(); ++pass) {
      QCOMPARE(model.keysOf(pass), model.prompt + pass);
      QCOMPARE(model.keys[model.prompt + pass - 1].text, model.next[pass - 1]);
    }
    QVERIFY(model.readsAll);
    // Before the run there is nothing, and no key is there before its token.
    QCOMPARE(growthModel(m_recorded.input(0)).request, RequestId{0});
    for (std::size_t position = 0; position < input.trace->size(); position += 7) {
      const GrowthModel earlier = growthModel(m_recorded.input(position));
      QVERIFY(earlier.keys.size() <= model.keys.size());
      QVERIFY(earlier.request == 0 || earlier.keys.size() == earlier.prompt + earlier.passes());
    }
  }

  void theSliderGoesFromKeyToKey() {
    const ViewInput input = m_recorded.input();
    KvGrowthView view;
    view.resize(640, 320);
    view.setInput(input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    const GrowthModel& model = view.model();
    QCOMPARE(view.step(), (GrowthStep{.pass = model.passes(), .compared = model.keys.size()}));
    auto* slider = view.findChild<QSlider*>();
    slider->setValue(0);
    QCOMPARE(view.step(), GrowthStep());
    slider->setValue(static_cast<int>(model.prompt) + 2);
    QCOMPARE(view.step(), (GrowthStep{.pass = 2, .compared = 1}));
    QCOMPARE(view.csv().count(QLatin1Char('\n')), static_cast<qsizetype>(model.next.size() + 1));

    // A key is a place of its token, and a click selects the token.
    Selection selection;
    selection.token = model.keys[3].place;
    const std::vector<QRect> places = view.placesOf(selection);
    QCOMPARE(places.size(), std::size_t{1});
    QVERIFY(view.placesIn().rect().contains(places.front()));
    std::vector<Selection> wanted;
    connect(&view, &View::selectionWanted, &view, [&](const Selection& one) { wanted.push_back(one); });
    QTest::mouseClick(const_cast<QWidget*>(&view.placesIn()), Qt::LeftButton, {}, places.front().center());
    QCOMPARE(wanted.size(), std::size_t{1});
    QVERIFY(wanted.front().token == selection.token);
    // The key of a later token is not in the cache yet.
    selection.token = model.keys.back().place;
    QVERIFY(view.placesOf(selection).empty());

    view.setInput(m_recorded.input(0));
    QCOMPARE(view.model().request, RequestId{0});
    QVERIFY(!slider->isVisible());
  }

 private:
  test::Recorded m_recorded;
};

SPANSCOPE_TEST(tst_kv_growth, TestKvGrowth, QApplication)
#include "tst_kv_growth.moc"
