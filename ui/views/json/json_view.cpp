// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/json/json_view.h"

#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "engine/workbench/pipeline.h"
#include "ui/document/document_file.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/json/json_editor.h"
#include "ui/views/problems/problems_view.h"
#include "ui/words/tr.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QStringList>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace spanscope::ui {

namespace {

constexpr int kPause = 200;  ///< milliseconds without a key before typed text is read
/// With more nodes, the text follows the document only when changes pause, because writing and reading it
/// takes milliseconds.
constexpr std::size_t kManyNodes = 200;
constexpr int kMostErrorRows = 4;
constexpr int kErrorRowHeight = 22;

}  // namespace

JsonView::JsonView(QWidget* parent)
    : InputView(InputPart::Model | InputPart::Prediction, Pace::EveryInput, parent),
      m_editor(new JsonEditor(this)),
      m_bar(new QWidget(this)),
      m_barText(new QLabel(m_bar)),
      m_pending(new QWidget(this)),
      m_pendingText(new QLabel(m_pending)),
      m_errors(new QListWidget(this)) {
  m_editor->setPlaceholderText(tr("The JSON of the query appears here. You can also paste JSON."));
  m_editor->installEventFilter(this);
  m_barText->setText(tr("The canvas changed while you typed this text."));
  m_barText->setWordWrap(true);
  auto* take = new QPushButton(tr("Use canvas version"), m_bar);
  take->setObjectName(QStringLiteral("take"));
  auto* keep = new QPushButton(tr("Keep typing"), m_bar);
  keep->setObjectName(QStringLiteral("keep"));
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(kSpace);
  buttons->addWidget(take);
  buttons->addWidget(keep);
  buttons->addStretch(1);
  auto* barLayout = new QVBoxLayout(m_bar);
  barLayout->setContentsMargins(2 * kSpace, kSpace, 2 * kSpace, 2 * kSpace);
  barLayout->setSpacing(kSpace);
  barLayout->addWidget(m_barText);
  barLayout->addLayout(buttons);
  m_bar->setObjectName(QStringLiteral("conflict"));
  m_bar->setAttribute(Qt::WA_StyledBackground);
  m_bar->hide();
  m_pendingText->setText(tr("Not in the query yet"));
  m_pendingText->setWordWrap(true);
  auto* discard = new QPushButton(tr("Discard text"), m_pending);
  discard->setObjectName(QStringLiteral("discard"));
  discard->setToolTip(tr("Show the query of the canvas. Run and Save use this query"));
  auto* pendingLayout = new QHBoxLayout(m_pending);
  pendingLayout->setContentsMargins(2 * kSpace, kSpace, 2 * kSpace, kSpace);
  pendingLayout->setSpacing(2 * kSpace);
  pendingLayout->addWidget(m_pendingText, 1);
  pendingLayout->addWidget(discard);
  m_pending->setObjectName(QStringLiteral("pending"));
  m_pending->setAttribute(Qt::WA_StyledBackground);
  m_pending->hide();
  m_errors->setObjectName(QStringLiteral("errors"));
  m_errors->setAccessibleName(tr("Errors of the text"));
  m_errors->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_errors->setTextElideMode(Qt::ElideRight);
  m_errors->hide();

  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(m_bar);
  layout->addWidget(m_editor, 1);
  layout->addWidget(m_pending);
  layout->addWidget(m_errors);

  m_typing.setSingleShot(true);
  m_typing.setInterval(kPause);
  connect(&m_typing, &QTimer::timeout, this, &JsonView::applyTyped);
  m_following.setSingleShot(true);
  m_following.setInterval(kPause);
  connect(&m_following, &QTimer::timeout, this, &JsonView::follow);
  m_checking.setSingleShot(true);
  m_checking.setInterval(0);
  connect(&m_checking, &QTimer::timeout, this, &JsonView::check);
  connect(m_editor, &QPlainTextEdit::textChanged, this, &JsonView::noteTyping);
  connect(m_editor, &QPlainTextEdit::cursorPositionChanged, this, &JsonView::followCursor);
  connect(take, &QPushButton::clicked, this, &JsonView::takeCanvas);
  connect(discard, &QPushButton::clicked, this, &JsonView::takeCanvas);
  connect(keep, &QPushButton::clicked, this, &JsonView::keepTyping);
  const auto show = [this](const QListWidgetItem* item) {
    m_editor->setCursorTo(item->data(Qt::UserRole).value<std::size_t>());
  };
  connect(m_errors, &QListWidget::itemClicked, this, show);
  connect(m_errors, &QListWidget::itemActivated, this, show);
}

QWidget* JsonView::takeTitleControls() {
  auto* copy = new QToolButton;
  copy->setText(tr("Copy"));
  copy->setAutoRaise(true);
  copy->setToolTip(tr("Copy the text"));
  connect(copy, &QToolButton::clicked, this, [this] {
    if (m_following.isActive()) follow();
    QGuiApplication::clipboard()->setText(m_editor->toPlainText());
  });
  return copy;
}

void JsonView::modelChanged() {
  // Text that was typed for the previous document does not belong to this one. The previous document keeps
  // the text.
  m_typing.stop();
  m_following.stop();
  if (m_unread != nullptr) m_unread->disconnect(this);
  m_unread = model() == nullptr ? nullptr : &UnreadText::of(*model());
  if (m_unread != nullptr) {
    connect(m_unread, &UnreadText::changed, this, &JsonView::followUnread);
    connect(m_unread, &UnreadText::settling, this, &JsonView::settle);
  }
  // A saved document has a folder, so its relative paths may now name files.
  if (model() != nullptr)
    connect(model(), &DocumentModel::stateChanged, this, [this] { m_checking.start(); });
  m_checking.setInterval(0);
  m_problems.clear();
  m_isOther = true;
  m_isTyped = false;
  m_isConflict = false;
}

void JsonView::refresh() {
  m_checking.start();
  m_editor->setTheme(theme());
  m_editor->setReadOnly(model() == nullptr);
  m_errors->setFont(theme().smallFont());
  m_barText->setFont(theme().smallFont());
  m_pendingText->setFont(theme().smallFont());
  setSheet(*m_pending, QStringLiteral("#pending { background: %1; border-top: 1px solid %2; }")
                           .arg(theme().color(Role::ErrorFill).name(), theme().color(Role::Line).name()));
  setSheet(*m_bar, QStringLiteral("#conflict { background: %1; border-bottom: 1px solid %2; }")
                       .arg(theme().color(Role::ComputedFill).name(), theme().color(Role::Line).name()));

  if (m_isOther && m_unread != nullptr && m_unread->typed()) {
    showTyped();
    return;
  }
  if (m_isTyped) {
    // m_text still holds the query that the document had when typing began.
    const bool wasConflict = std::exchange(m_isConflict, !saysTheSame(m_text, document()));
    if (m_isConflict) m_typing.stop();
    if (wasConflict && !m_isConflict) m_typing.start();
  } else if (document().size() > kManyNodes && !m_isOther) {
    m_following.start();
    return;
  } else if (!saysTheSame(m_text, document())) {
    takeCanvas();
    return;
  }
  showState();
}

void JsonView::follow() {
  if (m_isTyped) return;
  if (saysTheSame(m_text, document()))
    showState();
  else
    takeCanvas();
}

void JsonView::noteTyping() {
  // textChanged() is also sent when the text is only coloured.
  const QString now = m_editor->toPlainText();
  if (std::exchange(m_seen, now) == now || m_isSetting || model() == nullptr) return;
  if (!m_isTyped) m_editor->setHighlight(std::nullopt);
  m_isTyped = true;
  const QScopedValueRollback reporting(m_isReporting, true);
  m_unread->setTyped(now);
  if (!m_isConflict) m_typing.start();
}

void JsonView::applyTyped() {
  m_typing.stop();
  if (model() == nullptr || !m_isTyped) return;
  JsonText typed = readJsonText(m_editor->toPlainText().toStdString());
  const bool isNothing = typed.isEmpty && document().root() == document::kNoNode;
  if (!typed.query && !isNothing) {
    // The document's last query is kept, because changes from elsewhere are compared with it.
    typed.query.swap(m_text.query);
    typed.isEmpty = m_text.isEmpty;
    m_text = std::move(typed);
    if (m_text.diagnostics.empty()) {
      m_text.diagnostics.push_back({.severity = Severity::Error,
                                    .pointer = {},
                                    .position = {1, 1},
                                    .offset = 0,
                                    .found = tr("no text").toStdString(),
                                    .expected = tr("a query").toStdString(),
                                    .hint = {}});
    }
    const QScopedValueRollback reporting(m_isReporting, true);
    m_unread->setTypedErrors(m_text.diagnostics);
    showState();
    return;
  }
  m_text = std::move(typed);
  m_isTyped = false;
  m_isConflict = false;
  if (!isNothing) {
    // The text is copied, because the change makes refresh() use m_text.
    const query::Node wanted = *m_text.query;
    model()->change(
        tr("Edit JSON"), [&wanted](document::Document& value) { applyJson(value, wanted); },
        QStringLiteral("json"));
  }
  const QScopedValueRollback reporting(m_isReporting, true);
  std::vector<query::Diagnostic> leftOut = m_text.diagnostics;
  takeChatList(m_text.text, leftOut);
  m_unread->noteJson(leftOut);
  // This call comes last, because the typed text must not be lost before the query has the text.
  m_unread->discardTyped();
  showState();
}

void JsonView::takeCanvas() {
  m_typing.stop();
  m_following.stop();
  m_isOther = false;
  m_isTyped = false;
  m_isConflict = false;
  m_text = readJsonText(jsonOf(document()));
  m_isSetting = true;
  replaceText(*m_editor, QString::fromStdString(m_text.text));
  m_isSetting = false;
  // From here on undo belongs to the document.
  m_editor->document()->clearUndoRedoStacks();
  m_shownNode = document::kNoNode;
  if (m_unread != nullptr) {
    const QScopedValueRollback reporting(m_isReporting, true);
    m_unread->discardTyped();
  }
  showState();
}

void JsonView::showTyped() {
  m_typing.stop();
  m_following.stop();
  m_isOther = false;
  m_isTyped = true;
  m_text = readJsonText(jsonOf(*m_unread->base()));
  m_isSetting = true;
  replaceText(*m_editor, *m_unread->typed());
  m_isSetting = false;
  m_editor->document()->clearUndoRedoStacks();
  m_shownNode = document::kNoNode;
  m_isConflict = !saysTheSame(m_text, document());
  if (m_isConflict)
    showState();
  else
    applyTyped();
}

void JsonView::settle() {
  if (m_isOther) {
    showTyped();
    return;
  }
  // A hidden view has not noticed that the canvas changed.
  m_isConflict = m_isTyped && !saysTheSame(m_text, document());
  if (m_isConflict)
    showState();
  else
    applyTyped();
}

/// Handles changes by other parts of the program, which discard typed text or restore text of an earlier
/// session.
void JsonView::followUnread() {
  m_checking.start();
  if (m_isReporting || m_isOther) return;
  const std::optional<QString>& typed = m_unread->typed();
  if (!typed && m_isTyped)
    takeCanvas();
  else if (typed && *typed != m_editor->toPlainText())
    showTyped();
}

void JsonView::keepTyping() {
  m_isConflict = false;
  const JsonText canvas = readJsonText(jsonOf(document()));
  m_text.query = canvas.query;
  m_text.isEmpty = canvas.isEmpty;
  if (m_unread != nullptr) m_unread->takeBase();
  m_editor->setFocus();
  applyTyped();
}

void JsonView::check() {
  m_checking.setInterval(kPause);
  if (!isInStep()) return;
  const auto* devices = input() == nullptr ? nullptr : input()->devices.get();
  const auto* prediction = input() == nullptr ? nullptr : input()->prediction.newest.get();
  const std::optional<QString> path = model() == nullptr ? std::nullopt : std::optional(model()->filePath());
  std::vector<Problem> problems =
      m_finder.find(document(), tokenizer(), tokenCounts(), devices, path, document::kNoNode, prediction);
  removeLessonWarnings(model(), problems);
  if (m_unread != nullptr) {
    // The shown text already has its own problems in the list.
    for (Problem& problem : m_unread->problems(m_text.diagnostics.empty()))
      problems.push_back(std::move(problem));
  }
  problems = listedProblems(document(), std::move(problems));
  if (std::exchange(m_problems, std::move(problems)) != m_problems) showState();
}

void JsonView::showState() {
  m_bar->setVisible(m_isConflict);
  const std::vector<JsonRemark> remarks = remarksOn(m_text, isInStep(), document(), m_problems);
  std::vector<std::size_t> errors;
  m_errors->clear();
  for (const JsonRemark& remark : remarks) {
    const bool isError = remark.severity == Severity::Error;
    if (isError && remark.offset) errors.push_back(*remark.offset);
    const QString word = isError ? tr("error") : tr("warning");
    QString line = tr("%1: %2").arg(word, remark.text);
    if (remark.offset) {
      const query::TextPosition at = query::positionAt(m_text.text, *remark.offset);
      line = tr("%1:%2  %3").arg(at.line).arg(at.column).arg(line);
    }
    auto* item = new QListWidgetItem(line, m_errors);
    item->setToolTip(remark.text);
    item->setForeground(theme().color(isError ? Role::Error : Role::ComputedInk));
    item->setData(Qt::UserRole, QVariant::fromValue(remark.offset.value_or(0)));
    item->setSizeHint({0, kErrorRowHeight});
  }
  m_pending->setVisible(m_isTyped && !m_isConflict && query::hasErrors(m_text.diagnostics));
  m_errors->setVisible(m_errors->count() > 0);
  m_errors->setFixedHeight(std::min(m_errors->count(), kMostErrorRows) * kErrorRowHeight + 2 * kSpace);
  m_editor->setErrors(errors);
  showSelection();
  QString summary = jsonSummary(m_text, isInStep(), remarks);
  const std::size_t muted = isInStep() ? mutedRanges(m_text, document()).size() : 0;
  if (muted > 0) summary = tr("%1, %2 muted").arg(summary).arg(muted);
  if (summary == m_summary) return;
  m_summary = summary;
  Q_EMIT summaryChanged(summary);
}

void JsonView::showSelection() {
  const document::NodeId node = selection().currentNode();
  m_editor->setMuted(isInStep() ? mutedRanges(m_text, document()) : std::vector<query::SourceRange>());
  if (!isInStep()) {
    m_editor->setHighlight(std::nullopt);
    m_shownNode = document::kNoNode;
    return;
  }
  const std::optional<query::SourceRange> range = rangeOf(m_text, document(), node);
  m_editor->setHighlight(range);
  // The view does not scroll while the user edits the text.
  if (range && node != m_shownNode && !m_editor->hasFocus()) m_editor->showOffset(range->begin);
  m_shownNode = node;
}

void JsonView::followCursor() {
  if (m_isSetting || !isInStep() || m_typing.isActive() || !m_editor->hasFocus()) return;
  const document::NodeId node = nodeAtOffset(m_text, document(), m_editor->cursorOffset());
  if (node != document::kNoNode && node != selection().currentNode()) wantNode(node);
}

bool JsonView::eventFilter(QObject* watched, QEvent* event) {
  if (watched != m_editor || model() == nullptr) return InputView::eventFilter(watched, event);
  if (event->type() == QEvent::FocusOut) model()->endMerge();
  if (event->type() == QEvent::KeyPress && isInStep()) {
    // If text and document are in sync, undo belongs to the document. Text that is no query yet has the
    // editor's own undo.
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->matches(QKeySequence::Undo)) {
      model()->undoStack().undo();
      return true;
    }
    if (key->matches(QKeySequence::Redo)) {
      model()->undoStack().redo();
      return true;
    }
  }
  return InputView::eventFilter(watched, event);
}

ViewInfo jsonRow() {
  return {.id = QStringLiteral("json"),
          .title = tr("JSON"),
          .help = tr("The query as text, in sync with the canvas"),
          .make = makeViewOf<JsonView>,
          .places = {{LayoutId::Author, Room::Low, Room::Low, 2, 0, 2, 0},
                     {LayoutId::Author, Room::Middle, Room::Large, 2, 1, 0, 26}}};
}

namespace {

bool isEmptySeq(const document::DocumentNode& node) {
  const auto* join = node.own.as<query::Join>();
  return join != nullptr && join->kind == query::JoinKind::Seq && node.children.empty();
}

}  // namespace

JsonText readJsonText(std::string text) {
  JsonText result;
  result.text = std::move(text);
  result.isEmpty = result.text.find_first_not_of(" \t\r\n") == std::string::npos;
  if (result.isEmpty) return result;
  query::ParseResult parsed = query::parseJson(result.text);
  result.query = std::move(parsed.query);
  result.diagnostics = std::move(parsed.diagnostics);
  result.sources = std::move(parsed.sources);
  return result;
}

std::string jsonOf(const document::Document& document) {
  if (document.root() == document::kNoNode) return {};
  std::string text = query::writePretty(document::toTree(document, document.root()));
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

bool saysTheSame(const JsonText& text, const document::Document& document) {
  if (document.root() == document::kNoNode) return text.isEmpty;
  return text.query && *text.query == document::toTree(document, document.root());
}

void applyJson(document::Document& document, const query::Node& query) {
  std::vector<std::pair<document::NodeId, std::size_t>> missing;
  for (const document::NodeId id : document.ids()) {
    const std::vector<document::NodeId>& children = document.at(id).children;
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (children[i] == document::kNoNode) missing.emplace_back(id, i);
    }
  }
  document::replaceQuery(document, query);
  std::vector<document::NodeId> fillers;
  for (const auto& [id, index] : missing) {
    const document::DocumentNode* node = document.find(id);
    if (node == nullptr || index >= node->children.size() || node->children[index] == document::kNoNode)
      continue;
    if (isEmptySeq(document.at(node->children[index]))) fillers.push_back(node->children[index]);
  }
  document::removeSubtrees(document, fillers);
}

std::optional<query::SourceRange> rangeOf(const JsonText& text, const document::Document& document,
                                          document::NodeId node) {
  if (!text.query || !document.contains(node) || !document.inQuery(node)) return std::nullopt;
  for (const auto& [path, id] : document::pathsInTree(document, document.root())) {
    if (id == node) return text.sources.find(path);
  }
  return std::nullopt;
}

std::vector<query::SourceRange> mutedRanges(const JsonText& text, const document::Document& document) {
  std::vector<query::SourceRange> ranges;
  if (!text.query || document.root() == document::kNoNode) return ranges;
  for (const auto& [path, id] : document::pathsInTree(document, document.root())) {
    // A missing input has a path but no node.
    if (!document.contains(id) || !document.at(id).muted) continue;
    bool isOutermost = true;
    for (document::NodeId at = document.at(id).parent; at != document::kNoNode; at = document.at(at).parent)
      isOutermost = isOutermost && !document.at(at).muted;
    const auto range = text.sources.find(path);
    if (isOutermost && range) ranges.push_back(*range);
  }
  return ranges;
}

document::NodeId nodeAtOffset(const JsonText& text, const document::Document& document, std::size_t offset) {
  const std::optional<NodePath> path = text.sources.nodeAround(offset);
  if (!path || document.root() == document::kNoNode) return document::kNoNode;
  for (const auto& [place, id] : document::pathsInTree(document, document.root())) {
    if (place == *path) return id;
  }
  return document::kNoNode;
}

std::vector<JsonRemark> remarksOn(const JsonText& text, bool isInStep, const document::Document& document,
                                  const std::vector<Problem>& problems) {
  std::vector<JsonRemark> remarks;
  std::map<std::string, std::size_t> fields;  // offsets of remarks that both lists have
  for (const query::Diagnostic& said : text.diagnostics) {
    const bool isInList =
        isInStep && std::any_of(problems.begin(), problems.end(), [&said](const Problem& problem) {
          return !problem.place.empty() && problem.place == said.pointer;
        });
    if (isInList)
      fields.emplace(said.pointer, said.offset);
    else
      remarks.push_back({said.severity, said.offset, QString::fromStdString(said.message())});
  }
  if (!isInStep) return remarks;
  for (const Problem& problem : problems) {
    JsonRemark& remark = remarks.emplace_back(JsonRemark{problem.severity, std::nullopt, saidOf(problem)});
    // A problem outside of the query has no place in the text.
    if (problem.place.empty() && (problem.node != document.root() || text.isEmpty)) continue;
    if (const auto field = fields.find(problem.place); field != fields.end())
      remark.offset = field->second;
    else if (const auto range = workbench::rangeAround(problem.place, text.sources))
      remark.offset = range->begin;
  }
  return remarks;
}

QString jsonSummary(const JsonText& text, bool isInStep, const std::vector<JsonRemark>& remarks) {
  const auto error = std::find_if(
      text.diagnostics.begin(), text.diagnostics.end(),
      [](const query::Diagnostic& diagnostic) { return diagnostic.severity == Severity::Error; });
  if (error != text.diagnostics.end()) {
    return tr("line %1: expected %2").arg(error->position.line).arg(QString::fromStdString(error->expected));
  }
  if (!isInStep) return tr("not in sync");
  const auto errors = std::count_if(remarks.begin(), remarks.end(), [](const JsonRemark& remark) {
    return remark.severity == Severity::Error;
  });
  const auto warnings = static_cast<std::ptrdiff_t>(remarks.size()) - errors;
  QStringList parts(tr(/*id:json-in-sync*/ "in sync ✓"));
  if (errors > 0) parts += errors == 1 ? tr("1 error") : tr("%1 errors").arg(errors);
  if (warnings > 0) parts += warnings == 1 ? tr("1 warning") : tr("%1 warnings").arg(warnings);
  return parts.join(tr(" · "));
}

}  // namespace spanscope::ui
