// SPDX-License-Identifier: GPL-3.0-or-later
// Every field of the inspector, by mouse and keys, seen in the document.
#include "engine/query/node_parts.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/view_bench.h"
#include "ui/operators/operator_table.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/inspector/generate_section.h"
#include "ui/views/inspector/inspector_view.h"
#include "ui/views/inspector/parameter_section.h"

#include <QAbstractButton>
#include <QAbstractItemModelTester>
#include <QAbstractSpinBox>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QSpinBox>
#include <QStyleOptionComboBox>
#include <QTest>
#include <QToolButton>

#include <algorithm>
#include <utility>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::document::NodeId;
using spanscope::product_text::worded;
using spanscope::ui::testing::ViewBench;

namespace {

constexpr auto kQuery =
    R"({"g": {"model": "spnl/spanlet", "max_tokens": 32, "temperature": 0.0, "input": {"cross": [
  {"system": "Answer from the documents."},
  {"plus": [{"user": "Tarek is a baker."}, {"user": "Mira lives in Lisbon. Mira plays the cello. The lamp gave little light."},
            {"user": "Nadia works at Initech."}]},
  {"user": "Where does Mira live?"}]}}})";

NodeId nodeAt(const document::Document& document, std::initializer_list<std::size_t> path) {
  NodeId id = document.root();
  for (const std::size_t index : path) id = document.at(id).children.at(index);
  return id;
}

template <class T>
T* child(QWidget& widget, const char* name) {
  T* found = widget.findChild<T*>(QString::fromLatin1(name));
  if (found == nullptr) qFatal("no widget %s", name);
  return found;
}

/// Chooses an entry as a user does with the keyboard.
void choose(QComboBox* combo, const QString& text) {
  const int index = combo->findText(text);
  if (index < 0) qFatal("no entry %s", qPrintable(text));
  combo->setFocus();
  combo->setCurrentIndex(index);
  Q_EMIT combo->activated(index);
}

void type(QLineEdit* line, const QString& text) {
  line->setFocus();
  line->selectAll();
  QTest::keyClicks(line, text);
}

/// What is written in a part of the view and must be read whole. A line scrolls, so it has none.
QString textOf(const QWidget& part) {
  if (const auto* label = qobject_cast<const QLabel*>(&part)) return label->text();
  if (const auto* button = qobject_cast<const QAbstractButton*>(&part)) return button->text();
  if (const auto* combo = qobject_cast<const QComboBox*>(&part)) return combo->currentText();
  return {};
}

/// How many pixels of a part's width lie outside of any widget around it, or are missing for its text.
int cutPixels(const QWidget& part, const QWidget& view) {
  constexpr int kLeastLine = 36;  // some three digits
  int cut = 0;
  for (const QWidget* around = part.parentWidget(); around != nullptr; around = around->parentWidget()) {
    const int left = part.mapTo(around, QPoint(0, 0)).x();
    cut = std::max({cut, -left, left + part.width() - around->width()});
    if (around == &view) break;
  }
  int room = part.width();
  int wanted = part.fontMetrics().horizontalAdvance(textOf(part));
  if (const auto* label = qobject_cast<const QLabel*>(&part)) {
    wanted = label->wordWrap() ? label->minimumSizeHint().width() : label->sizeHint().width();
  } else if (const auto* combo = qobject_cast<const QComboBox*>(&part)) {
    QStyleOptionComboBox option;
    option.initFrom(combo);
    option.editable = false;
    room = combo->style()
               ->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, combo)
               .width();
  } else if (qobject_cast<const QAbstractButton*>(&part) != nullptr) {
    wanted = part.minimumSizeHint().width();
  } else {
    wanted = kLeastLine;
  }
  return std::max(cut, wanted - room);
}

}  // namespace

class TestInspectorView : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void saysWhatWillAppear();
  void saysTheFacts();
  void fitsANarrowDock_data();
  void fitsANarrowDock();
  void nothingIsCutInTheNarrowestDock_data();
  void nothingIsCutInTheNarrowestDock();
  void typesText();
  void textFollowsUndo();
  void typingIsOneCommandANode();
  void countsTokens();
  void longTextsAreCountedBeside();
  void changesTheRole();
  void namesAndMutes();
  void editsGenerate();
  void refusesBadNumbers();
  void keepsTheSpellingWhileTyping();
  void editsRepeat();
  void editsMapInputs();
  void editsAugmentAndFile();
  void freezes();
  void freezesSeveralAnswers();
  void focusesTheText();
  void followsTheSelection();
  void editsParameters();
  void listsAllParametersWhereNothingIsSelected();
  void definesParameters();
  void listsWhatIsDeclaredAndStandsNowhere();
  void parameterReasons_data();
  void parameterReasons();
  void tokenTexts_data();
  void tokenTexts();
  void mapModelIsSound();
};

void TestInspectorView::saysWhatWillAppear() {
  InspectorView view;
  ViewBench bench(view, kQuery);
  bench.show({380, 460});
  QVERIFY(child<QLabel>(view, "empty")->isVisible());
  bench.picture(QStringLiteral("inspector-empty"));
}

void TestInspectorView::saysTheFacts() {
  InspectorView view;
  ViewBench bench(view, kQuery);
  bench.show({380, 460});
  const NodeId node = nodeAt(bench.document(), {0, 1, 1});
  bench.model().change(QStringLiteral("Name"),
                       [node](document::Document& d) { document::setName(d, node, "document"); });
  bench.loadTokenizer();
  bench.select(node);
  QCOMPARE(bench.summary(), QStringLiteral("user · document"));
  QCOMPARE(child<QLabel>(view, "place")->text(), QStringLiteral("plus, place 2 of 3"));
  QCOMPARE(child<QLineEdit>(view, "name")->text(), QStringLiteral("document"));
  QCOMPARE(child<QComboBox>(view, "operator")->currentText(), QStringLiteral("user"));
  bench.picture(QStringLiteral("inspector-message"));
  bench.select(bench.document().root());
  QCOMPARE(child<QLabel>(view, "place")->text(), worded("<none-query>"));
  bench.picture(QStringLiteral("inspector-generate"));
  bench.select(nodeAt(bench.document(), {0, 1}));
  bench.picture(QStringLiteral("inspector-plus"));
}

void TestInspectorView::fitsANarrowDock_data() {
  QTest::addColumn<QString>("query");
  QTest::newRow("generate") << QStringLiteral(
      R"({"g": {"model": "spnl/spanlet", "max_tokens": 32, "temperature": 0.9, "input": {"user": "Where?"}}})");
  QTest::newRow("repeat") << QStringLiteral(
      R"({"repeat": {"n": 4, "g": {"model": "spnl/spanlet", "max_tokens": 80, "temperature": 0.9,)"
      R"( "input": {"user": "Where?"}}}})");
}

/// At 1024 pixels the dock has some 260: every field is whole, and every number is seen.
void TestInspectorView::fitsANarrowDock() {
  QFETCH(QString, query);
  InspectorView view;
  ViewBench bench(view, query.toStdString());
  bench.show({260, 560});
  bench.select(bench.document().root());
  QTest::qWait(20);
  int fields = 0;
  for (QWidget* field : view.findChildren<QWidget*>()) {
    const bool isField = qobject_cast<QLineEdit*>(field) != nullptr ||
                         qobject_cast<QPushButton*>(field) != nullptr ||
                         qobject_cast<QComboBox*>(field) != nullptr;
    if (!isField || !field->isVisible()) continue;
    ++fields;
    const int right = field->mapTo(&view, QPoint(field->width(), 0)).x();
    QVERIFY2(right <= view.width(),
             qPrintable(field->accessibleName() + QStringLiteral(" ends at %1").arg(right)));
    if (const auto* line = qobject_cast<QLineEdit*>(field))
      QVERIFY2(line->width() >= 36, qPrintable(line->accessibleName()));
  }
  QVERIFY(fields > 6);
}

void TestInspectorView::nothingIsCutInTheNarrowestDock_data() {
  QTest::addColumn<QString>("op");
  QTest::addColumn<Scheme>("scheme");
  for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
    const char* theme = scheme == Scheme::Light ? "light" : "dark";
    for (const OperatorRow& row : operatorTable())
      QTest::addRow("%s, %s", row.name.c_str(), theme) << QString::fromStdString(row.name) << scheme;
    QTest::addRow("nothing selected, %s", theme) << QString() << scheme;
  }
}

/// A window of 683 × 467 gives the dock some 200 pixels. There too every field of every kind of node ends
/// inside of it, and what is written in it is whole.
void TestInspectorView::nothingIsCutInTheNarrowestDock() {
  QFETCH(QString, op);
  QFETCH(Scheme, scheme);
  InspectorView view;
  ViewBench bench(view, R"({"plus": [{"user": "Where does {who} live?"}]})");
  bench.setTheme(scheme);
  bench.model().change(QStringLiteral("Declared"),
                       [](document::Document& document) { document.parameters["who"] = "Mira"; });
  NodeId node = document::kNoNode;
  bench.model().change(QStringLiteral("Node"), [&](document::Document& document) {
    if (op.isEmpty()) return;
    node = nodeAt(document, {0});
    document::replaceOperator(document, node, op.toStdString());
    query::Node own = document.at(node).own;
    if (query::GenerateSettings* settings = query::settingsOf(own)) {
      settings->maxTokens = std::int32_t{1024};
      settings->temperature = 0.75F;
      document::setOwn(document, node, std::move(own));
      document::setFrozen(document, node, {"In Lisbon.", "In Porto."});
      if (document.at(node).frozen.empty()) document::setFrozen(document, node, {"In Lisbon."});
    }
  });
  bench.loadTokenizer();
  bench.show({200, 160});
  bench.select(node);
  for (QToolButton* define : view.findChildren<QToolButton*>(QStringLiteral("define"))) {
    if (define->isVisible()) define->click();
  }
  QTest::qWait(20);
  QCOMPARE(view.width(), 200);
  int looked = 0;
  QStringList cut;
  for (const QWidget* part : view.findChildren<QWidget*>()) {
    const bool isContent = qobject_cast<const QLabel*>(part) != nullptr ||
                           qobject_cast<const QLineEdit*>(part) != nullptr ||
                           qobject_cast<const QAbstractButton*>(part) != nullptr ||
                           qobject_cast<const QComboBox*>(part) != nullptr ||
                           qobject_cast<const QAbstractSpinBox*>(part) != nullptr ||
                           qobject_cast<const QPlainTextEdit*>(part) != nullptr ||
                           qobject_cast<const QListView*>(part) != nullptr;
    if (!isContent || !part->isVisible()) continue;
    ++looked;
    const int pixels = cutPixels(*part, view);
    if (pixels > 0)
      cut << QStringLiteral("%1 “%2”: %3 px")
                 .arg(QLatin1String(part->metaObject()->className()),
                      part->objectName().isEmpty() ? part->accessibleName() + textOf(*part)
                                                   : part->objectName())
                 .arg(pixels);
  }
  QVERIFY2(cut.isEmpty(), qPrintable(cut.join(QStringLiteral(", "))));
  QVERIFY(looked > 1);
}

void TestInspectorView::typesText() {
  InspectorView view;
  ViewBench bench(view, kQuery);
  bench.show({380, 460});
  const NodeId node = nodeAt(bench.document(), {0, 2});
  bench.select(node);
  auto* editor = child<QPlainTextEdit>(*child<QWidget>(view, "textSection"), "text");
  view.focusText();
  QTest::keyClicks(editor, QStringLiteral(" Say why."));
  QCOMPARE(bench.document().at(node).own.as<query::Message>()->text,
           std::string("Where does Mira live? Say why."));
  QCOMPARE(bench.model().undoStack().count(), 1);
  QTest::keyClick(editor, Qt::Key_Z, Qt::ControlModifier);
  QCOMPARE(bench.document().at(node).own.as<query::Message>()->text, std::string("Where does Mira live?"));
  QCOMPARE(editor->toPlainText(), QStringLiteral("Where does Mira live?"));
  QTest::keyClick(editor, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
  QCOMPARE(editor->toPlainText(), QStringLiteral("Where does Mira live? Say why."));
}

void TestInspectorView::textFollowsUndo() {
  InspectorView view;
  ViewBench bench(view, kQuery);
  bench.show({380, 460});
  const NodeId node = nodeAt(bench.document(), {0, 2});
  bench.select(node);
  auto* editor = child<QPlainTextEdit>(*child<QWidget>(view, "textSection"), "text");
  editor->setFocus();
  editor->moveCursor(QTextCursor::Start);
  for (int i = 0; i < 5; ++i) editor->moveCursor(QTextCursor::Right);
  const auto set = [&](const char* text) {
    bench.model().change(QStringLiteral("Elsewhere"), [&](document::Document& d) {
      document::setOwn(d, node, {query::Message{.role = query::Role::User, .text = text}});
    });
  };
  set("Where does Mira live now?");
  QCOMPARE(editor->toPlainText(), QStringLiteral("Where does Mira live now?"));
  QCOMPARE(editor->textCursor().position(), 5);
  QCOMPARE(bench.model().undoStack().count(), 1);
  set("🎻 Where?");
  QCOMPARE(editor->toPlainText(), QString::fromUtf8("🎻 Where?"));
  QCOMPARE(bench.model().undoStack().count(), 2);
}

void TestInspectorView::typingIsOneCommandANode() {
  InspectorView view;
  ViewBench bench(view, kQuery);
  bench.show({380, 460});
  auto* editor = child<QPlainTextEdit>(*child<QWidget>(view, "textSection"), "text");
  const NodeId first = nodeAt(bench.document(), {0, 2});
  const NodeId second = nodeAt(bench.document(), {0, 0});
  bench.select(first);
  editor->setFocus();
  QTest::keyClicks(editor, QStringLiteral("ab"));
  bench.select(second);
  QTest::keyClicks(editor, QStringLiteral("cd"));
  bench.select(first);
  QTest::keyClicks(editor, QStringLiteral("ef"));
  QCOMPARE(bench.model().undoStack().count(), 3);
}

void TestInspectorView::countsTokens() {
  InspectorView view;
  ViewBench bench(view, kQuery);
  bench.show({380, 460});
  bench.select(nodeAt(bench.document(), {0, 1, 1}));
  auto* count = child<QLabel>(*child<QWidget>(view, "textSection"), "count");
  QCOMPARE(count->text(), worded("<no-model-loaded>"));
  bench.loadTokenizer();
  const auto tokenizer = text::loadTokenizer(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet");
  const auto tokens = [&tokenizer](const char* text) {
    return static_cast<std::int64_t>(tokenizer->encode(text).size());
  };
  QCOMPARE(count->text(),
           tokenText(tokens("Mira lives in Lisbon. Mira plays the cello. The lamp gave little light.")));
  auto* editor = child<QPlainTextEdit>(*child<QWidget>(view, "textSection"), "text");
  editor->selectAll();
  QTest::keyClicks(editor, QStringLiteral("Hello"));
  QCOMPARE(count->text(), tokenText(tokens("Hello")));
}

void TestInspectorView::longTextsAreCountedBeside() {
  InspectorView view;
  ViewBench bench(view, kQuery);
  bench.show({380, 460});
  bench.loadTokenizer();
  const NodeId node = nodeAt(bench.document(), {0, 0});
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "A word and another. ";
  bench.model().change(QStringLiteral("Long"), [&](document::Document& d) {
    document::setOwn(d, node, {query::Message{.role = query::Role::System, .text = text}});
  });
  bench.select(node);
  const auto tokenizer = text::loadTokenizer(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet");
  const QString expected = tokenText(static_cast<std::int64_t>(tokenizer->encode(text).size()));
  QTRY_COMPARE(child<QLabel>(*child<QWidget>(view, "textSection"), "count")->text(), expected);
}

void TestInspectorView::changesTheRole() {
  InspectorView view;
  ViewBench bench(view, kQuery);
  bench.show({380, 460});
  const NodeId node = nodeAt(bench.document(), {0, 0});
  bench.select(node);
  choose(child<QComboBox>(view, "operator"), QStringLiteral("user"));
  QCOMPARE(bench.document().at(node).own.as<query::Message>()->role, query::Role::User);
  const NodeId plus = nodeAt(bench.document(), {0, 1});
  bench.select(plus);
  choose(child<QComboBox>(view, "operator"), QStringLiteral("cross"));
  QCOMPARE(bench.document().at(plus).own.as<query::Join>()->kind, query::JoinKind::Cross);
  QCOMPARE(bench.document().at(plus).children.size(), std::size_t{3});
  choose(child<QComboBox>(view, "operator"), QStringLiteral("cross"));
  QCOMPARE(bench.model().undoStack().count(), 2);
}

void TestInspectorView::namesAndMutes() {
  InspectorView view;
  ViewBench bench(view, kQuery);
  bench.show({380, 460});
  const NodeId node = nodeAt(bench.document(), {0, 0});
  bench.select(node);
  type(child<QLineEdit>(view, "name"), QStringLiteral("rules"));
  QCOMPARE(bench.document().at(node).name, std::string("rules"));
  QCOMPARE(bench.model().undoStack().count(), 1);
  auto* muted = child<QCheckBox>(view, "muted");
  QTest::mouseClick(muted, Qt::LeftButton, {}, QPoint(8, muted->height() / 2));
  QVERIFY(bench.document().at(node).muted);
  bench.model().undoStack().undo();
  QVERIFY(!muted->isChecked());
}

void TestInspectorView::editsGenerate() {
  InspectorView view;
  ViewBench bench(view, kQuery);
  bench.show({380, 560});
  const NodeId node = bench.document().root();
  bench.select(node);
  const auto settings = [&] { return bench.document().at(node).own.as<query::Generate>()->settings; };
  type(child<QLineEdit>(view, "generateModel"), QStringLiteral("other"));
  QCOMPARE(settings().model, std::string("other"));
  auto* most = child<NumberField>(view, "generateMaxTokens");
  type(most->field()->line(), QStringLiteral("100"));
  QVERIFY(settings().maxTokens == query::Setting<std::int32_t>(100));
  choose(most->modes(), QStringLiteral("no limit"));
  QVERIFY(settings().maxTokens == query::Setting<std::int32_t>(query::Null{}));
  choose(most->modes(), QStringLiteral("server's default"));
  QVERIFY(settings().maxTokens == query::Setting<std::int32_t>(query::Absent{}));
  choose(most->modes(), QStringLiteral("{parameter}"));
  QVERIFY(settings().maxTokens == query::Setting<std::int32_t>(query::Parameter{"max_tokens"}));
  type(most->field()->line(), QStringLiteral("limit"));
  QVERIFY(settings().maxTokens == query::Setting<std::int32_t>(query::Parameter{"limit"}));
  choose(most->modes(), QStringLiteral("number"));
  QVERIFY(settings().maxTokens == query::Setting<std::int32_t>(100));
  auto* temperature = child<NumberField>(view, "generateTemperature");
  type(temperature->field()->line(), QStringLiteral("0.7"));
  QVERIFY(settings().temperature == query::Setting<float>(0.7F));
  while (bench.model().undoStack().canUndo()) bench.model().undoStack().undo();
  QVERIFY(settings().temperature == query::Setting<float>(0.0F));
  QCOMPARE(most->field()->text(), QStringLiteral("32"));
}

void TestInspectorView::refusesBadNumbers() {
  InspectorView view;
  ViewBench bench(view, kQuery);
  bench.show({380, 560});
  bench.select(bench.document().root());
  const document::Document before = bench.document();
  auto* most = child<NumberField>(view, "generateMaxTokens");
  for (const char* text : {"x", "99999999999", "1.5", ""}) {
    most->field()->line()->setFocus();
    most->field()->line()->selectAll();
    QTest::keyClick(most->field()->line(), Qt::Key_Delete);
    QTest::keyClicks(most->field()->line(), QString::fromLatin1(text).right(1));
    most->field()->line()->setText(QString());
    QTest::keyClicks(most->field()->line(), QString::fromLatin1(text));
    QVERIFY2(!most->reason().isEmpty() || QByteArray(text).isEmpty(), text);
    bench.model().undoStack().setIndex(0);
    QVERIFY(bench.document() == before);
  }
  auto* temperature = child<NumberField>(view, "generateTemperature");
  type(temperature->field()->line(), QStringLiteral("hot"));
  QVERIFY(!temperature->reason().isEmpty());
  QVERIFY(bench.document() == before);
  bench.picture(QStringLiteral("inspector-refused"));
  // What was refused gives way to what holds.
  child<QLineEdit>(view, "name")->setFocus();
  QCOMPARE(temperature->field()->text(), QStringLiteral("0.0"));
  QCOMPARE(temperature->reason(), QString());
}

void TestInspectorView::keepsTheSpellingWhileTyping() {
  InspectorView view;
  ViewBench bench(view, kQuery);
  bench.show({380, 560});
  bench.select(bench.document().root());
  auto* temperature = child<NumberField>(view, "generateTemperature");
  type(temperature->field()->line(), QStringLiteral("0.50"));
  QCOMPARE(temperature->field()->text(), QStringLiteral("0.50"));
  QTest::keyClicks(temperature->field()->line(), QStringLiteral("5"));
  QVERIFY(bench.document().at(bench.document().root()).own.as<query::Generate>()->settings.temperature ==
          query::Setting<float>(0.505F));
}

void TestInspectorView::editsRepeat() {
  InspectorView view;
  ViewBench bench(view, R"({"repeat": {"n": 3, "g": {"model": "m", "input": {"user": "a"}}}})");
  bench.show({380, 560});
  const NodeId node = bench.document().root();
  bench.select(node);
  auto* count = child<NumberField>(view, "repeatCount");
  QVERIFY(count->isVisible());
  type(count->field()->line(), QStringLiteral("12"));
  QCOMPARE(std::get<std::uint8_t>(bench.document().at(node).own.as<query::Repeat>()->count),
           std::uint8_t{12});
  type(count->field()->line(), QStringLiteral("256"));
  QVERIFY(!count->reason().isEmpty());
  choose(count->modes(), QStringLiteral("{parameter}"));
  QCOMPARE(std::get<query::Parameter>(bench.document().at(node).own.as<query::Repeat>()->count).name,
           std::string("n"));
}

void TestInspectorView::editsMapInputs() {
  InspectorView view;
  ViewBench bench(view, R"({"map": {"metadata": {"model": "m"}, "inputs": ["one", "two"]}})");
  bench.show({380, 560});
  const NodeId node = bench.document().root();
  bench.select(node);
  const auto inputs = [&] { return bench.document().at(node).own.as<query::Map>()->inputs; };
  auto* list = child<QListView>(view, "inputs");
  QVERIFY(list->isVisible());
  list->setCurrentIndex(list->model()->index(1, 0));
  const auto click = [&view](const QString& text) {
    for (auto* button : view.findChildren<QPushButton*>()) {
      if (button->text() == text) QTest::mouseClick(button, Qt::LeftButton);
    }
  };
  click(QStringLiteral("Up"));
  QCOMPARE(inputs(), (std::vector<std::string>{"two", "one"}));
  click(QStringLiteral("Remove"));
  QCOMPARE(inputs(), (std::vector<std::string>{"one"}));
  click(QStringLiteral("Add"));
  QCOMPARE(inputs().size(), std::size_t{2});
  QWidget* editor = list->viewport()->findChild<QLineEdit*>();
  QVERIFY(editor != nullptr);
  QTest::keyClicks(editor, QStringLiteral("three"));
  QTest::keyClick(editor, Qt::Key_Return);
  QTRY_COMPARE(inputs(), (std::vector<std::string>{"one", "three"}));
  bench.picture(QStringLiteral("inspector-map"));
  bench.model().undoStack().setIndex(0);
  QCOMPARE(inputs(), (std::vector<std::string>{"one", "two"}));
  QCOMPARE(list->model()->rowCount(), 2);
}

void TestInspectorView::editsAugmentAndFile() {
  InspectorView view;
  ViewBench bench(
      view,
      R"({"augment": {"embedding_model": "e", "body": {"file": "a.txt"}, "doc": ["d", {"Text": "t"}]}})");
  bench.show({380, 560});
  const NodeId node = bench.document().root();
  bench.select(node);
  type(child<QLineEdit>(view, "embedding"), QStringLiteral("minilm"));
  type(child<QLineEdit>(view, "documentName"), QStringLiteral("notes.txt"));
  auto* content = child<QPlainTextEdit>(*child<QWidget>(view, "content"), "text");
  content->selectAll();
  QTest::keyClicks(content, QStringLiteral("some text"));
  const auto* augment = bench.document().at(node).own.as<query::Augment>();
  QCOMPARE(augment->embeddingModel, std::string("minilm"));
  QCOMPARE(augment->document.name, std::string("notes.txt"));
  QCOMPARE(std::get<std::string>(augment->document.content), std::string("some text"));
  bench.picture(QStringLiteral("inspector-augment"));
  const NodeId file = nodeAt(bench.document(), {0});
  bench.select(file);
  QVERIFY(child<QPushButton>(view, "browse")->isVisible());
  QCOMPARE(pathInFolder(QStringLiteral("/a/b/c.txt"), QStringLiteral("/a")), QStringLiteral("b/c.txt"));
  QCOMPARE(pathInFolder(QStringLiteral("/d/c.txt"), QStringLiteral("/a")), QStringLiteral("/d/c.txt"));
  QCOMPARE(pathInFolder(QStringLiteral("/d/c.txt"), QString()), QStringLiteral("/d/c.txt"));
  type(child<QLineEdit>(view, "path"), QStringLiteral("b.txt"));
  QCOMPARE(bench.document().at(file).own.as<query::File>()->path, std::string("b.txt"));
}

void TestInspectorView::freezes() {
  InspectorView view;
  ViewBench bench(view, kQuery);
  bench.show({380, 560});
  const NodeId node = bench.document().root();
  bench.select(node);
  auto* freeze = child<QPushButton>(view, "freeze");
  QTest::mouseClick(freeze, Qt::LeftButton);
  QCOMPARE(bench.commands(), QStringList({QStringLiteral("node.freeze")}));
  bench.model().change(QStringLiteral("Freeze"),
                       [node](document::Document& d) { document::setFrozen(d, node, {"Lisbon"}); });
  auto* answer = child<QPlainTextEdit>(*child<QWidget>(view, "frozen"), "text");
  QCOMPARE(answer->toPlainText(), QStringLiteral("Lisbon"));
  answer->moveCursor(QTextCursor::End);
  QTest::keyClicks(answer, QStringLiteral("."));
  QCOMPARE(bench.document().at(node).frozen, std::vector<std::string>{"Lisbon."});
  bench.picture(QStringLiteral("inspector-frozen"));
  QTest::mouseClick(freeze, Qt::LeftButton);
  QVERIFY(!bench.document().at(node).isFrozen());
}

void TestInspectorView::freezesSeveralAnswers() {
  InspectorView view;
  ViewBench bench(view, R"({"repeat": {"n": 2, "g": {"model": "m", "input": {"user": "Name a city."}}}})");
  bench.show({380, 560});
  const NodeId node = bench.document().root();
  bench.select(node);
  auto* which = child<QSpinBox>(view, "frozenWhich");
  QVERIFY(!which->isVisible());
  QCOMPARE(child<QPushButton>(view, "freeze")->text(), QStringLiteral("Freeze answer"));
  bench.model().change(QStringLiteral("Freeze"), [node](document::Document& d) {
    document::setFrozen(d, node, {"Lisbon", "Porto"});
  });
  QVERIFY(which->isVisible());
  QCOMPARE(which->maximum(), 2);
  auto* answer = child<QPlainTextEdit>(*child<QWidget>(view, "frozen"), "text");
  QCOMPARE(answer->toPlainText(), QStringLiteral("Lisbon"));
  which->setValue(2);
  QCOMPARE(answer->toPlainText(), QStringLiteral("Porto"));
  QCOMPARE(bench.model().undoStack().count(), 1);  // looking changes nothing
  answer->moveCursor(QTextCursor::End);
  QTest::keyClicks(answer, QStringLiteral(" and Braga"));
  QCOMPARE(bench.document().at(node).frozen, (std::vector<std::string>{"Lisbon", "Porto and Braga"}));
  QCOMPARE(which->value(), 2);
  bench.picture(QStringLiteral("inspector-frozen-replies"));
  bench.model().undoStack().undo();
  QCOMPARE(answer->toPlainText(), QStringLiteral("Porto"));
  QTest::mouseClick(child<QPushButton>(view, "freeze"), Qt::LeftButton);
  QVERIFY(!bench.document().at(node).isFrozen());
  QVERIFY(!which->isVisible());
}

void TestInspectorView::focusesTheText() {
  InspectorView view;
  ViewBench bench(view, kQuery);
  bench.show({380, 560});
  bench.select(nodeAt(bench.document(), {0, 0}));
  QMetaObject::invokeMethod(&view, "focusText");
  QCOMPARE(QApplication::focusWidget(), child<QPlainTextEdit>(*child<QWidget>(view, "textSection"), "text"));
  bench.select(bench.document().root());
  view.focusText();
  QCOMPARE(QApplication::focusWidget(), child<QLineEdit>(view, "generateModel"));
  bench.select(nodeAt(bench.document(), {0, 1}));
  view.focusText();
  QCOMPARE(QApplication::focusWidget(), child<QLineEdit>(view, "name"));
}

void TestInspectorView::followsTheSelection() {
  InspectorView view;
  ViewBench bench(view, kQuery);
  bench.show({380, 560});
  const NodeId node = nodeAt(bench.document(), {0, 0});
  bench.select(node);
  bench.model().change(QStringLiteral("Delete"),
                       [node](document::Document& d) { document::removeSubtrees(d, {node}); });
  QVERIFY(child<QLabel>(view, "empty")->isVisible());
  bench.model().undoStack().undo();
  QVERIFY(!child<QLabel>(view, "empty")->isVisible());
  view.setModel(nullptr);
  QVERIFY(!child<QPlainTextEdit>(*child<QWidget>(view, "textSection"), "text")->isEnabled());
}

void TestInspectorView::editsParameters() {
  InspectorView view;
  ViewBench bench(view, R"({"g": {"model": "spnl/spanlet", "max_tokens": "{limit}", "input":
      {"plus": [{"user": "About {topic}."}, {"user": "More about {topic}, {tone}."}]}}})");
  bench.show({380, 460});
  bench.select(nodeAt(bench.document(), {0, 1}));
  auto& section = *child<QWidget>(view, "parameters");
  auto* topic = child<CheckedField>(section, "parameter:topic");
  QVERIFY(topic->isVisible());
  QVERIFY(child<CheckedField>(section, "parameter:tone")->isVisible());
  QCOMPARE(topic->line()->placeholderText(), QStringLiteral("unchanged"));
  type(topic->line(), QStringLiteral("tides"));
  QCOMPARE(bench.document().parameters.at("topic"), std::string("tides"));
  QCOMPARE(bench.model().undoStack().count(), 1);
  topic->line()->selectAll();
  QTest::keyClick(topic->line(), Qt::Key_Delete);
  QCOMPARE(bench.document().parameters.at("topic"), std::string());
  QTest::mouseClick(child<QToolButton>(section, "remove:topic"), Qt::LeftButton);
  QVERIFY(!bench.document().parameters.contains("topic"));
  bench.picture(QStringLiteral("inspector-parameters"));

  bench.select(bench.document().root());
  auto* limit = child<CheckedField>(section, "parameter:limit");
  type(limit->line(), QStringLiteral("many"));
  QVERIFY(!bench.document().parameters.contains("limit"));
  QVERIFY2(limit->reason().contains(QStringLiteral("whole number")), qPrintable(limit->reason()));
  type(limit->line(), QStringLiteral("40"));
  QCOMPARE(bench.document().parameters.at("limit"), std::string("40"));
  QVERIFY(limit->reason().isEmpty());
  bench.model().undoStack().undo();
  QVERIFY(limit->text().isEmpty());
}

void TestInspectorView::listsAllParametersWhereNothingIsSelected() {
  InspectorView view;
  ViewBench bench(view, R"({"plus": [{"user": "About {topic}."}, {"user": "{tone} about {topic}"}]})");
  bench.show({380, 460});
  auto* section = child<QWidget>(view, "allParameters");
  QVERIFY(section->isVisible());
  QCOMPARE(section->findChildren<CheckedField*>(QRegularExpression("^parameter:")).size(), 2);
  const std::vector<ParameterRow> rows = parameterRows(bench.document(), document::kNoNode);
  QCOMPARE(rows.size(), std::size_t(2));
  QCOMPARE(rows[0].name, std::string("topic"));
  QCOMPARE(rows[0].nodes, std::size_t(2));
  QCOMPARE(rows[1].nodes, std::size_t(1));
  bench.picture(QStringLiteral("inspector-all-parameters"));
}

void TestInspectorView::definesParameters() {
  InspectorView view;
  ViewBench bench(view, R"({"repeat": {"n": "{n}", "g": {"model": "spnl/spanlet", "max_tokens": 20,
      "temperature": 0.5, "input": {"user": "Write {n} lines about {topic}."}}}})");
  bench.show({380, 560});
  auto& section = *child<QWidget>(view, "allParameters");
  auto* kind = child<QComboBox>(section, "kind:topic");
  auto* standard = child<CheckedField>(section, "default:topic");
  auto* description = child<QLineEdit>(section, "description:topic");
  QVERIFY(!kind->isVisible());
  QTest::mouseClick(child<QToolButton>(section, "define"), Qt::LeftButton);
  QVERIFY(kind->isVisible() && standard->isVisible() && description->isVisible());
  // A count is a count: nothing is narrower.
  QVERIFY(!child<QComboBox>(section, "kind:n")->isEnabled());
  QCOMPARE(kind->count(), 4);
  QCOMPARE(kind->currentText(), QStringLiteral("Text"));

  type(standard->line(), QStringLiteral("tides"));
  QVERIFY(document::declarationOf(bench.document(), "topic")->defaultValue == std::string("tides"));
  QCOMPARE(child<CheckedField>(section, "parameter:topic")->line()->placeholderText(),
           QStringLiteral("default: tides"));
  type(description, QStringLiteral("what the lines are about"));
  QCOMPARE(document::declarationOf(bench.document(), "topic")->description,
           std::string("what the lines are about"));
  QCOMPARE(bench.model().undoStack().count(), 2);
  QCOMPARE(bench.model().undoStack().undoText(), QStringLiteral("Description of {topic}"));
  auto* count = child<CheckedField>(section, "default:n");
  type(count->line(), QStringLiteral("many"));
  QVERIFY2(count->reason().contains(QStringLiteral("from 0 to 255")), qPrintable(count->reason()));
  QVERIFY(document::declarationOf(bench.document(), "n") == nullptr);
  type(count->line(), QStringLiteral("3"));
  QVERIFY(document::declarationOf(bench.document(), "n")->defaultValue == std::string("3"));
  bench.picture(QStringLiteral("inspector-define-parameters"));

  // A narrower type is checked where a value is typed, and the field stays the one that is typed into.
  choose(kind, QStringLiteral("Whole number"));
  QVERIFY(document::declarationOf(bench.document(), "topic")->kind == query::ParameterKind::MaxTokens);
  auto* value = child<CheckedField>(section, "parameter:topic");
  type(value->line(), QStringLiteral("tides"));
  QVERIFY(!value->reason().isEmpty());
  QVERIFY(!bench.document().parameters.contains("topic"));
  type(value->line(), QStringLiteral("12"));
  QCOMPARE(bench.document().parameters.at("topic"), std::string("12"));

  while (bench.model().undoStack().canUndo()) bench.model().undoStack().undo();
  QVERIFY(bench.document().declarations.empty());
  QCOMPARE(kind->currentText(), QStringLiteral("Text"));
  QVERIFY(standard->text().isEmpty() && description->text().isEmpty());
}

void TestInspectorView::listsWhatIsDeclaredAndStandsNowhere() {
  document::Document document =
      document::fromQuery(query::Node{query::Message{.role = query::Role::User, .text = "About {topic}."}});
  document::declareParameter(document, {.name = "old", .kind = {}, .defaultValue = "1"});
  const std::vector<ParameterRow> rows = parameterRows(document, document::kNoNode);
  QCOMPARE(rows.size(), std::size_t{2});
  QCOMPARE(rows[1].name, std::string("old"));
  QCOMPARE(rows[1].nodes, std::size_t{0});
  QCOMPARE(parameterRows(document, document.root()).size(), std::size_t{1});
}

void TestInspectorView::parameterReasons_data() {
  using query::ParameterKind;
  QTest::addColumn<ParameterKind>("kind");
  QTest::addColumn<QString>("text");
  QTest::addColumn<bool>("good");
  QTest::newRow("text, any") << ParameterKind::Text << "{x} \"" << true;
  QTest::newRow("text, empty") << ParameterKind::Text << "" << true;
  QTest::newRow("count") << ParameterKind::Count << "255" << true;
  QTest::newRow("count, too large") << ParameterKind::Count << "256" << false;
  QTest::newRow("count, empty") << ParameterKind::Count << "" << false;
  QTest::newRow("tokens") << ParameterKind::MaxTokens << "100" << true;
  QTest::newRow("tokens, fraction") << ParameterKind::MaxTokens << "1.5" << false;
  QTest::newRow("temperature") << ParameterKind::Temperature << "0.3" << true;
  QTest::newRow("temperature, word") << ParameterKind::Temperature << "warm" << false;
}

void TestInspectorView::parameterReasons() {
  QFETCH(query::ParameterKind, kind);
  QFETCH(QString, text);
  QFETCH(bool, good);
  QCOMPARE(parameterReason(kind, text.toStdString()).isEmpty(), good);
}

void TestInspectorView::tokenTexts_data() {
  QTest::addColumn<int>("tokens");
  QTest::addColumn<QString>("text");
  QTest::newRow("none") << 0 << QStringLiteral("0 tokens of text");
  QTest::newRow("one") << 1 << QStringLiteral("1 token of text");
  QTest::newRow("more") << 58 << QStringLiteral("58 tokens of text");
}

void TestInspectorView::tokenTexts() {
  QFETCH(int, tokens);
  QTEST(tokenText(tokens), "text");
}

void TestInspectorView::mapModelIsSound() {
  MapInputsModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
  model.setInputs({"a", "b", "c"});
  QVERIFY(model.setData(model.index(1), QStringLiteral("B"), Qt::EditRole));
  QVERIFY(model.insertRows(3, 2));
  QVERIFY(model.removeRows(0, 1));
  QVERIFY(model.moveRows({}, 0, 1, {}, 2));
  QVERIFY(model.moveRows({}, 1, 1, {}, 0));
  QVERIFY(!model.moveRows({}, 0, 1, {}, 1));
  QVERIFY(!model.removeRows(3, 2));
  QVERIFY(!model.insertRows(9, 1));
  QVERIFY(!model.setData(QModelIndex(), QString(), Qt::EditRole));
  QCOMPARE(model.inputs(), (std::vector<std::string>{"B", "c", "", ""}));
  model.setInputs({"x", "c", "", ""});
  model.setInputs({});
  QCOMPARE(model.rowCount(), 0);
}

SPANSCOPE_TEST(tst_inspector_view, TestInspectorView, QApplication)
#include "tst_inspector_view.moc"
