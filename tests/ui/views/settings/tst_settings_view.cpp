// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/policies.h"
#include "engine/workbench/document/edits.h"
#include "engine/workbench/document/plan_options.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/view_bench.h"
#include "ui/views/common/elided_text.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/settings/settings_view.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QHelpEvent>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QSpinBox>
#include <QTest>
#include <QToolTip>

#include <algorithm>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::ui::testing::ViewBench;

namespace {

constexpr const char* kRetrieving =
    R"({"augment":{"embedding_model":"e","body":{"user":"Where?"},"doc":["people.csv",{"Text":"x"}]}})";

struct Fixture {
  SettingsView view;
  ViewBench bench;

  explicit Fixture(const char* query = R"({"user": "a"})") : bench(view, query) { bench.show({360, 620}); }

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
  void everySettingHasARow();
  void showsAndChanges();
  void refusesWhatIsNone();
  void saysTheExactness();
  void policiesHaveValues();
  void tellsOfDevices();
  void endsLongNamesInAnEllipsis();
  void offersEachDevice();
  void stepsBlockSizesByTwo();
  void everyChangeIsUndone();
  void keysUndoSettingsAlone();
  void retrievalIsForAugments();
  void retrievalIsChanged();
  void addressesAreChecked();
  void retrievalByKeyboard();
  void layerTexts();
};

void TestSettingsView::everySettingHasARow() {
  Fixture f(kRetrieving);
  for (const workbench::Setting& setting : workbench::runSettings()) {
    auto* const field = f.child<QWidget>(setting.name);
    const QString label = QString::fromUtf8(setting.row.label);
    if (auto* check = qobject_cast<QCheckBox*>(field)) {
      QCOMPARE(check->text(), label);
    } else {
      const QList<QLabel*> labels = f.view.findChildren<QLabel*>();
      QVERIFY2(
          std::any_of(labels.begin(), labels.end(),
                      [&](const QLabel* text) { return text->text() == label && text->buddy() == field; }),
          setting.name);
    }
    if (auto* spin = qobject_cast<QSpinBox*>(field)) {
      const workbench::WholeRange range = setting.row.range.value_or(setting.range);
      QCOMPARE(std::int64_t{spin->minimum()}, range.least);
      QCOMPARE(std::int64_t{spin->maximum()}, range.most);
    }
  }
}

void TestSettingsView::showsAndChanges() {
  Fixture f;
  f.bench.picture(QStringLiteral("settings"));
  f.choose("kvType", 2);
  QCOMPARE(f.settings().kvType, std::string("bf16"));
  f.choose("outputForm", 1);
  QCOMPARE(f.settings().outputForm, std::string("reused"));
  f.child<QSpinBox>("blockCount")->setValue(1024);
  QCOMPARE(f.settings().blockCount, 1024);
  f.child<QSpinBox>("threads")->setValue(2);
  QCOMPARE(f.settings().threads, 2);
  f.child<QSpinBox>("maxTokens")->setValue(64);
  QCOMPARE(f.settings().maxTokens, 64);
  f.child<QSpinBox>("attentionMebibytes")->setValue(128);
  QCOMPARE(f.settings().attentionMebibytes, 128);
  f.child<QSpinBox>("keptMebibytes")->setValue(1024);
  QCOMPARE(f.settings().keptMebibytes, 1024);
  auto* observe = f.child<QCheckBox>("observe");
  QTest::mouseClick(observe, Qt::LeftButton, {}, QPoint(8, observe->height() / 2));
  QVERIFY(!f.settings().observe);
  QVERIFY(!f.child<QCheckBox>("observeRows")->isEnabled());
  QVERIFY(!f.child<QSpinBox>("attentionMebibytes")->isEnabled());
  auto* distribute = f.child<QCheckBox>("distribute");
  QTest::mouseClick(distribute, Qt::LeftButton, {}, QPoint(8, distribute->height() / 2));
  QVERIFY(!f.settings().distribute);
  QCOMPARE(f.bench.model().settingsUndoStack().count(), 9);
  QVERIFY(!f.child<QLineEdit>("reducePrompt")->isEnabled());
  f.child<QSpinBox>("locality")->setValue(4);
  QCOMPARE(f.settings().locality, 4U);
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
  const auto says = [&f](const policy::Policy& policy) {
    for (const QLabel* label : f.view.findChildren<QLabel*>()) {
      if (label->text() == QString::fromUtf8(policy.exactness)) return true;
    }
    return false;
  };
  QVERIFY(says(policy::kSpans));
  f.choose("policy", 1);
  QCOMPARE(f.settings().policy, std::string("prefix"));
  QVERIFY(says(policy::kPrefix));
}

void TestSettingsView::policiesHaveValues() {
  Fixture f;
  auto* values = f.child<CheckedField>("policyValues");
  QVERIFY(!values->isVisibleTo(&f.view));
  f.choose("policy", 2);
  QCOMPARE(f.settings().policy, std::string("link(16)"));
  QVERIFY(values->isVisibleTo(&f.view));
  QCOMPARE(values->text(), QStringLiteral("16"));
  values->line()->setFocus();
  values->line()->selectAll();
  QTest::keyClicks(values->line(), QStringLiteral("64"));
  QCOMPARE(f.settings().policy, std::string("link(64)"));
  QTest::keyClicks(values->line(), QStringLiteral("x"));
  QVERIFY2(values->reason().contains(QStringLiteral("a whole number")), qPrintable(values->reason()));
  QCOMPARE(f.settings().policy, std::string("link(64)"));
  values->line()->selectAll();
  QTest::keyClicks(values->line(), QStringLiteral("all"));
  QCOMPARE(f.settings().policy, std::string("link(all)"));
  f.bench.model().settingsUndoStack().setIndex(0);
  QCOMPARE(f.child<QComboBox>("policy")->currentIndex(), 0);
  QVERIFY(!values->isVisibleTo(&f.view));
}

void TestSettingsView::tellsOfDevices() {
  Fixture f;
  const auto shows = [&f](const QString& text) {
    const QList<QLabel*> labels = f.view.findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(),
                       [&](const QLabel* label) { return label->isVisible() && label->text() == text; });
  };
  f.bench.setDevices(
      {{.name = "cpu", .description = "AMD EPYC, AVX2", .memoryBytes = std::uint64_t{3} << 29, .reason = {}},
       {.name = "cuda", .description = {}, .memoryBytes = 0, .reason = "the driver is too old"}});
  QVERIFY(shows("cpu: AMD EPYC, AVX2, 1.5 GiB\ncuda: cannot be used, the driver is too old"));
  f.bench.setDevices({{.name = "cpu", .description = "AMD EPYC", .memoryBytes = 0, .reason = {}}});
  QVERIFY(shows("cpu: AMD EPYC"));
}

void TestSettingsView::endsLongNamesInAnEllipsis() {
  Fixture f;
  const QString text = "cuda:0: NVIDIA Graphics Card With A Long Name, compute capability 9.0, 141.0 GiB";
  f.bench.setDevices({{.name = "cuda:0",
                       .description = "NVIDIA Graphics Card With A Long Name, compute capability 9.0",
                       .memoryBytes = std::uint64_t{141} << 30,
                       .reason = {}}});
  f.choose("device", 1);
  auto* combo = f.child<ElidedCombo>("device");
  QCOMPARE(combo->currentText(), text);
  QVERIFY2(combo->shown().endsWith(QChar(0x2026)), qPrintable(combo->shown()));
  QVERIFY(combo->fontMetrics().horizontalAdvance(combo->shown()) < combo->width());
  QHelpEvent help(QEvent::ToolTip, combo->rect().center(), combo->mapToGlobal(combo->rect().center()));
  QCoreApplication::sendEvent(combo, &help);
  QVERIFY(QToolTip::text().startsWith(text));
  QToolTip::hideText();
}

void TestSettingsView::offersEachDevice() {
  Fixture f;
  const auto* combo = f.child<QComboBox>("device");
  QCOMPARE(combo->count(), 3);
  f.bench.setDevices(
      {{.name = "cpu", .description = "AMD EPYC", .memoryBytes = 0, .reason = {}},
       {.name = "cuda:0", .description = "Large Card", .memoryBytes = std::uint64_t{141} << 30, .reason = {}},
       {.name = "cuda:1", .description = "Small Card", .memoryBytes = std::uint64_t{40} << 30, .reason = {}},
       {.name = "cuda:2", .description = {}, .memoryBytes = 0, .reason = "too old"}});
  QCOMPARE(combo->count(), 4);
  QCOMPARE(combo->currentIndex(), 0);
  QCOMPARE(combo->itemText(3), QStringLiteral("cuda:1: Small Card, 40.0 GiB"));
  f.choose("device", 3);
  QCOMPARE(f.settings().device, std::string("cuda:1"));
  QCOMPARE(combo->currentIndex(), 3);
  f.bench.model().settingsUndoStack().undo();
  QCOMPARE(f.settings().device, std::string("auto"));
  QCOMPARE(combo->currentIndex(), 0);
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
  f.bench.model().settingsUndoStack().setIndex(0);
  QVERIFY(f.bench.document() == before);
  QCOMPARE(f.child<QSpinBox>("blockSize")->value(), 16);
  QCOMPARE(f.child<QComboBox>("policy")->currentIndex(), 0);
}

/// Whichever field has the focus: undo there never takes a change of the query back.
void TestSettingsView::keysUndoSettingsAlone() {
  Fixture f;
  f.bench.model().change(QStringLiteral("Add"), [](document::Document& document) {
    document::addNode(document, document::makeOperator("user"));
  });
  f.choose("policy", 1);
  f.child<QSpinBox>("blockSize")->stepUp();
  const std::size_t nodes = f.bench.document().size();
  const std::vector<QWidget*> fields = {f.child<QComboBox>("policy"), f.child<QSpinBox>("blockSize"),
                                        f.child<QCheckBox>("observe"), f.child<QLineEdit>("standsFor")};
  for (QWidget* field : fields) {
    field->setFocus();
    // The window must not get the key as a shortcut.
    QKeyEvent asked(QEvent::ShortcutOverride, Qt::Key_Z, Qt::ControlModifier);
    asked.ignore();
    QCoreApplication::sendEvent(field, &asked);
    QVERIFY2(asked.isAccepted(), field->metaObject()->className());
    QTest::keyClick(field, Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(f.settings().blockSize, 16);
    QCOMPARE(f.settings().policy, std::string("prefix"));
    QTest::keyClick(field, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(f.settings().blockSize, 32);
    QCOMPARE(f.bench.document().size(), nodes);
  }
}

void TestSettingsView::retrievalIsForAugments() {
  Fixture f;
  const std::vector<const char*> always = {"fragments", "ranking",   "chunk",
                                           "overlap",   "summaries", "embeddings"};
  const auto isShown = [&f](const char* name) { return f.child<QWidget>(name)->isVisibleTo(&f.view); };
  for (const char* name : always) QVERIFY2(!isShown(name), name);
  QVERIFY(!isShown("embeddingsUrl"));
  f.bench.model().change(QStringLiteral("Add"), [](document::Document& document) {
    document::addNode(document, document::makeOperator("augment"));
  });
  for (const char* name : always) QVERIFY2(isShown(name), name);
  // Rows of a server come with the choice of one.
  QVERIFY(!isShown("embeddingsUrl") && !isShown("embeddingsModel"));
  f.choose("embeddings", 1);
  QVERIFY(isShown("embeddingsUrl") && isShown("embeddingsModel"));
  f.bench.model().undoStack().setIndex(0);
  for (const char* name : always) QVERIFY2(!isShown(name), name);
}

void TestSettingsView::retrievalIsChanged() {
  Fixture f(kRetrieving);
  QScrollArea* scroll = f.view.findChild<QScrollArea*>();
  f.choose("embeddings", 1);
  QTest::qWait(50);  // until the rows have their places
  scroll->ensureWidgetVisible(f.child<QWidget>("embeddingsModel"), 0, 120);
  f.bench.picture(QStringLiteral("settings-retrieval"));
  f.bench.model().settingsUndoStack().setIndex(0);
  const document::Document before = f.bench.document();
  // The same defaults as on the command line.
  const retrieve::RetrievalOptions defaults;
  QCOMPARE(f.child<QSpinBox>("fragments")->value(), defaults.passages);
  QCOMPARE(f.child<QSpinBox>("chunk")->value(), defaults.chunk.tokens);
  QCOMPARE(f.child<QSpinBox>("overlap")->value(), defaults.chunk.overlap);
  QCOMPARE(f.child<QCheckBox>("summaries")->isChecked(), defaults.summaries);
  QCOMPARE(f.child<QComboBox>("ranking")->currentData().toString(), QStringLiteral("auto"));
  QCOMPARE(f.child<QComboBox>("embeddings")->currentIndex(), 0);

  f.child<QSpinBox>("fragments")->setValue(9);
  f.choose("ranking", 3);
  f.child<QSpinBox>("chunk")->setValue(40);
  auto* summaries = f.child<QCheckBox>("summaries");
  QTest::mouseClick(summaries, Qt::LeftButton, {}, QPoint(8, summaries->height() / 2));
  f.choose("embeddings", 1);
  QCOMPARE(f.settings().passages, 9);
  QCOMPARE(f.settings().ranking, std::string("hybrid"));
  QCOMPARE(f.settings().chunk, 40);
  QVERIFY(f.settings().summaries);
  QCOMPARE(f.settings().embeddings, std::string("server"));
  // More than a quarter of the passage size does not count, and it is said.
  const auto says = [&f](const QString& part) {
    const QList<QLabel*> labels = f.view.findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) {
      return label->isVisibleTo(&f.view) && label->text().contains(part);
    });
  };
  QVERIFY(says(QStringLiteral("10 tokens")));
  QCOMPARE(document::retrievalOptionsOf(f.settings()).chunk.overlap, 10);
  f.child<QSpinBox>("overlap")->setValue(10);
  QVERIFY(!says(QStringLiteral("10 tokens")));
  QCOMPARE(f.settings().overlap, 10);
  QCOMPARE(f.bench.model().settingsUndoStack().count(), 6);

  const document::Document after = f.bench.document();
  f.bench.model().settingsUndoStack().setIndex(0);
  QVERIFY(f.bench.document() == before);
  QCOMPARE(f.child<QSpinBox>("chunk")->value(), 128);
  QCOMPARE(f.child<QComboBox>("ranking")->currentIndex(), 0);
  f.bench.model().settingsUndoStack().setIndex(6);
  QVERIFY(f.bench.document() == after);
}

void TestSettingsView::addressesAreChecked() {
  Fixture f(kRetrieving);
  f.choose("embeddings", 1);
  auto* address = f.child<CheckedField>("embeddingsUrl");
  auto* model = f.child<CheckedField>("embeddingsModel");
  address->line()->setFocus();
  QTest::keyClicks(address->line(), QStringLiteral("localhost"));
  QVERIFY(address->reason().contains(QStringLiteral("http://")));
  QVERIFY(f.settings().embeddingsUrl.empty());
  address->line()->selectAll();
  QTest::keyClicks(address->line(), QStringLiteral(" http://localhost:8000/v1 "));
  QCOMPARE(address->reason(), QString());
  QCOMPARE(f.settings().embeddingsUrl, std::string("http://localhost:8000/v1"));
  QTest::keyClicks(address->line(), QStringLiteral("?key=1"));
  QVERIFY(!address->reason().isEmpty());
  QCOMPARE(f.settings().embeddingsUrl, std::string("http://localhost:8000/v1"));
  model->line()->setFocus();
  QTest::keyClicks(model->line(), QStringLiteral("minilm"));
  QCOMPARE(f.settings().embeddingsModel, std::string("minilm"));
  // What is typed in one go is one command.
  QCOMPARE(f.bench.model().settingsUndoStack().count(), 3);
  address->line()->setFocus();
  address->line()->clear();
  QTest::keyClick(address->line(), Qt::Key_Backspace);
  address->line()->selectAll();
  QTest::keyClicks(address->line(), QStringLiteral("x"));
  QTest::keyClick(address->line(), Qt::Key_Backspace);
  QCOMPARE(address->reason(), QString());
  QVERIFY(f.settings().embeddingsUrl.empty());
}

void TestSettingsView::retrievalByKeyboard() {
  Fixture f(kRetrieving);
  f.choose("embeddings", 1);
  f.child<QSpinBox>("fragments")->setFocus();
  QStringList reached;
  for (int i = 0; i < 8; ++i) {
    QWidget* focus = QApplication::focusWidget();
    while (focus != nullptr && focus->objectName().isEmpty()) focus = focus->parentWidget();
    QVERIFY(focus != nullptr);
    QVERIFY2(!focus->accessibleName().isEmpty() || qobject_cast<QCheckBox*>(focus) != nullptr,
             qPrintable(focus->objectName()));
    reached += focus->objectName();
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
  }
  QCOMPARE(
      reached.join(QLatin1Char(' ')),
      QStringLiteral("fragments ranking chunk overlap summaries embeddings embeddingsUrl embeddingsModel"));
  f.child<QCheckBox>("summaries")->setFocus();
  QTest::keyClick(f.child<QCheckBox>("summaries"), Qt::Key_Space);
  QVERIFY(f.settings().summaries);
  QTest::keyClick(f.child<QSpinBox>("chunk"), Qt::Key_Up);
  QCOMPARE(f.settings().chunk, 144);
}

void TestSettingsView::layerTexts() {
  QCOMPARE(layersText({}), QStringLiteral("all"));
  QCOMPARE(layersText({0, 2}), QStringLiteral("0, 2"));
  QCOMPARE(readLayers(QStringLiteral(" all ")), std::vector<std::int32_t>());
  QCOMPARE(readLayers(QStringLiteral("2,0,2")), (std::vector<std::int32_t>{0, 2}));
  QVERIFY(!readLayers(QStringLiteral("0,,1")));
  QVERIFY(!readLayers(QStringLiteral("-1")));
}

SPANSCOPE_TEST(tst_settings_view, TestSettingsView, QApplication)
#include "tst_settings_view.moc"
