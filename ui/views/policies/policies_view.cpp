// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/policies/policies_view.h"

#include "engine/policy/policies.h"
#include "engine/workbench/setting_choices.h"
#include "ui/session/job_estimate.h"
#include "ui/session/measure_requests.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <QAction>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QShortcut>
#include <QTextCharFormat>
#include <QTextCursor>
#include <QTextDocument>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace spanscope::ui {

namespace {

constexpr int kGap = 2 * kSpace;
}  // namespace

PoliciesView::PoliciesView(QWidget* parent)
    : MeasurePage(InputPart::Document | InputPart::Measured | InputPart::Prediction, tr("Policies"), parent) {
  setCopyHelp(tr("Copy the table and the answers as text"));
  m_choice = new PolicyMenu(this);
  connect(m_choice, &PolicyMenu::chosen, this,
          [this](const std::vector<std::string>& names) { Q_EMIT jobChosen(policyChoice(names)); });
  QVBoxLayout* page = layOut({runButton(), m_choice}, makeResults());
  m_token = new QLabel(this);
  m_token->setObjectName(QStringLiteral("token"));
  m_token->setTextFormat(Qt::PlainText);
  m_token->setWordWrap(true);
  m_token->setContentsMargins(0, 0, 0, kSpace);
  m_token->hide();
  page->addWidget(m_token);
  page->addStretch();
  connect(m_answers, &PolicyAnswers::tokenReached, this, [this](const QString& help) {
    m_token->setText(QString(help).replace(QLatin1Char('\n'), tr(" · ")));
    m_token->setVisible(!help.isEmpty() && m_answers->hasFocus());
  });
}

QString PoliciesView::introduction() const {
  return tr(
      "Run this query under several reuse policies, and compare each answer with a full prefill. The table "
      "shows which policy is fast, which policy is exact, and which words change.");
}

QWidget* PoliciesView::makeResults() {
  auto* results = new QWidget;
  QVBoxLayout* texts = makeTexts(tr("Metrics by policy"), results);
  m_answers = new PolicyAnswers(results);
  texts->addWidget(m_answers);
  texts->addStretch(1);
  texts->setContentsMargins(0, 0, 0, kGap);
  results->setLayout(texts);
  return results;
}

QString PoliciesView::command() const {
  return QStringLiteral("run.policies:run");
}

void PoliciesView::refresh() {
  m_model = policiesModel(*input());
  Shown shown{
      .isKnown = m_model.isKnown,
      .isRunning = m_model.isRunning,
      .progress = m_model.progress,
      .doing = m_model.isRunning
                   ? m_model.doing
                   : estimateText(*input(),
                                  jobs::callOf<jobs::PolicyComparisonJob>(
                                      {.policies = comparedPolicies(input()->document->settings.policy,
                                                                    chosenPolicies(input()->measured))})),
      .setup = m_model.setup,
      .warnings = m_model.warnings,
      .remarks = m_model.remarks,
      .table = m_model.table,
      .run = tr("Compare policies"),
      .runHelp =
          m_model.isRunning
              ? tr("Stop the comparison and keep finished measurements")
              : tr("Run each policy twice, and a full prefill once. Other runs can start between two steps")};
  m_choice->setChosen(input()->document->settings.policy, chosenPolicies(input()->measured));
  m_choice->setEnabled(!m_model.isRunning);
  m_token->setFont(theme().smallFont());
  colorLabel(*m_token, theme(), Role::TextSecond);
  m_answers->setVisible(!m_model.answers.empty());
  m_answers->setContent(m_model.answers, theme());
  showMeasured(shown);
}

QString PoliciesView::text() const {
  return policiesText(m_model);
}

QString PoliciesView::csv() const {
  if (input() == nullptr) return {};
  const auto comparison = measured<jobs::PolicyComparisonJob>(input()->measured);
  return !comparison || policiesModel(*input()).table.rows.empty() ? QString() : policiesCsv(*comparison);
}

void PoliciesView::paintTo(QPainter& painter, const QSize& size) {
  if (input() != nullptr) refresh();
  painter.fillRect(QRect(QPoint(), size), theme().color(Role::Surface));
  if (!m_model.isKnown) {
    paintEmptyText(painter, QRect(QPoint(), size), introduction(), theme());
    return;
  }
  const int width = size.width() - 2 * kGap;
  int y = kGap;
  write(painter, m_model.setup, width, size.height(), y);
  if (!m_model.table.rows.empty()) {
    const int tableHeight = paintedTableHeight(m_model.table, theme(), width);
    paintTable(painter, QRect(kGap, y, width, tableHeight + 1), m_model.table, theme());
    y += tableHeight + kGap;
  }
  for (const QString& line : m_model.warnings + m_model.remarks)
    write(painter, line, width, size.height(), y);
  QTextDocument answers;
  answers.setDefaultFont(theme().interfaceFont());
  writeAnswers(answers, m_model.answers, theme());
  answers.setTextWidth(width);
  painter.save();
  painter.translate(kGap, y);
  answers.drawContents(&painter, QRectF(0, 0, width, size.height() - y));
  painter.restore();
}

ViewInfo policiesRow() {
  return {.id = QStringLiteral("policies"),
          .title = tr("Policies"),
          .help = tr("The query under several reuse policies: answers, times and fidelity"),
          .make = makeViewOf<PoliciesView>,
          .places = {{LayoutId::Measure, Room::Low, Room::Large, 0, 0, 2, 0}}};
}

PolicyMenu::PolicyMenu(QWidget* parent) : QToolButton(parent), m_menu(new QMenu(this)) {
  setPopupMode(QToolButton::InstantPopup);
  setToolTip(tr("Choose the policies to compare"));
  setMenu(m_menu);
  m_menu->installEventFilter(this);
  for (const policy::Policy* policy : policy::policies()) {
    QAction* action = m_menu->addAction(QString(), this, &PolicyMenu::reportChosen);
    action->setData(QString::fromUtf8(policy->name));
    action->setCheckable(true);
  }
}

void PolicyMenu::setChosen(const std::string& own, const std::vector<std::string>& wanted) {
  m_own = own;
  m_wanted = wanted;
  const policy::Choice first = workbench::policyOf(own);
  for (QAction* action : m_menu->actions()) {
    const policy::Policy& policy = *policy::findPolicy(action->data().toString().toStdString());
    const bool isOwn = &policy == &first.policy();
    const QString name = QString::fromStdString(isOwn ? first.name() : policy::Choice(policy).name());
    const QString brief = isOwn ? tr("the query's own") : policyWord(policy.brief);
    action->setText(tr("%1: %2").arg(name, brief));
    action->setChecked(isOwn ||
                       std::find(wanted.begin(), wanted.end(), std::string(policy.name)) != wanted.end());
    action->setEnabled(!isOwn);
  }
  setText(tr("%1 policies ▾").arg(comparedPolicies(own, wanted).size()));
}

void PolicyMenu::reportChosen() {
  const std::string own = workbench::policyOf(m_own).policy().name;
  std::vector<std::string> names;
  for (const QAction* action : m_menu->actions()) {
    const std::string name = action->data().toString().toStdString();
    // The document's own policy is always checked. This policy counts only if the user chose it before,
    // because another document has another policy.
    const bool wasWanted = std::find(m_wanted.begin(), m_wanted.end(), name) != m_wanted.end();
    if (name == own ? wasWanted : action->isChecked()) names.push_back(name);
  }
  Q_EMIT chosen(names);
}

/// Keeps the menu open after a policy was checked.
bool PolicyMenu::eventFilter(QObject* watched, QEvent* event) {
  QAction* action = nullptr;
  if (event->type() == QEvent::MouseButtonRelease)
    action = m_menu->actionAt(static_cast<QMouseEvent*>(event)->position().toPoint());
  else if (event->type() == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Space)
    action = m_menu->activeAction();
  if (action == nullptr || !action->isEnabled()) return QToolButton::eventFilter(watched, event);
  action->trigger();
  return true;
}

namespace {

QTextCharFormat inked(const QFont& font, const QColor& ink) {
  QTextCharFormat format;
  format.setFont(font);
  format.setForeground(ink);
  return format;
}

bool isBlank(QChar letter) {
  return letter.isSpace();
}

}  // namespace

std::vector<std::pair<int, QString>> writeAnswers(QTextDocument& document,
                                                  const std::vector<PolicyAnswer>& answers,
                                                  const Theme& theme) {
  QFont bold = theme.interfaceFont();
  bold.setWeight(QFont::DemiBold);
  const QTextCharFormat name = inked(bold, theme.color(Role::Text));
  const QTextCharFormat facts = inked(theme.smallFont(), theme.color(Role::TextSecond));
  const QTextCharFormat plain = inked(theme.interfaceFont(), theme.color(Role::Text));
  QTextCharFormat other = inked(bold, theme.color(Role::Accent));
  other.setUnderlineStyle(QTextCharFormat::SingleUnderline);
  other.setUnderlineColor(theme.color(Role::Accent));

  std::vector<std::pair<int, QString>> tokens;
  document.clear();
  document.setDocumentMargin(0);
  QTextCursor cursor(&document);
  cursor.beginEditBlock();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const PolicyAnswer& answer = answers[i];
    QTextBlockFormat heading;
    heading.setTopMargin(i == 0 ? 0 : 2 * kSpace);
    if (i == 0)
      cursor.setBlockFormat(heading);
    else
      cursor.insertBlock(heading);
    cursor.insertText(answer.name, name);
    if (!answer.facts.isEmpty()) cursor.insertText(QStringLiteral("   ") + answer.facts, facts);
    cursor.insertBlock(QTextBlockFormat());
    for (const AnswerToken& token : answer.tokens) {
      QTextCharFormat format = token.differs ? other : plain;
      format.setToolTip(token.help);
      tokens.emplace_back(cursor.position(), token.help);
      // Spaces before a word are not underlined. An underlined token of only spaces is shown as a sign.
      const qsizetype word =
          std::find_if_not(token.text.begin(), token.text.end(), isBlank) - token.text.begin();
      QTextCharFormat before = plain;
      before.setToolTip(token.help);
      cursor.insertText(token.text.left(word), before);
      const bool isNothingElse = token.differs && word == token.text.size();
      cursor.insertText(isNothingElse ? QStringLiteral("␣") : token.text.mid(word), format);
    }
  }
  cursor.endEditBlock();
  return tokens;
}

PolicyAnswers::PolicyAnswers(QWidget* parent) : QTextBrowser(parent) {
  setAccessibleName(tr("Answers, token by token"));
  setFrameShape(QFrame::NoFrame);
  setTabChangesFocus(true);
  setOpenLinks(false);
  setUndoRedoEnabled(false);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  setFocusPolicy(Qt::StrongFocus);
  viewport()->setAutoFillBackground(false);
  connect(this, &QTextEdit::cursorPositionChanged, this, &PolicyAnswers::emitToken);
  for (const auto& [key, steps] : {std::pair(Qt::Key_Left, -1), std::pair(Qt::Key_Right, 1)}) {
    auto* shortcut = new QShortcut(key, this, nullptr, nullptr, Qt::WidgetShortcut);
    connect(shortcut, &QShortcut::activated, this, [this, by = steps] { goToToken(by); });
  }
}

void PolicyAnswers::setContent(const std::vector<PolicyAnswer>& answers, const Theme& theme) {
  if (answers == m_answers && theme == m_theme) return;
  m_answers = answers;
  m_theme = theme;
  const int position = textCursor().position();
  setSheet(*this, QStringLiteral("QTextBrowser { background: transparent; padding: 0; border: none; }"));
  m_tokens = writeAnswers(*document(), answers, theme);
  QTextCursor cursor = textCursor();
  cursor.setPosition(std::clamp(position, 0, document()->characterCount() - 1));
  setTextCursor(cursor);
  fitHeight();
  emitToken();
}

void PolicyAnswers::fitHeight() {
  document()->setTextWidth(viewport()->width());
  setFixedHeight(static_cast<int>(document()->size().height()) + 2);
}

void PolicyAnswers::resizeEvent(QResizeEvent* event) {
  QTextBrowser::resizeEvent(event);
  fitHeight();
}

void PolicyAnswers::focusInEvent(QFocusEvent* event) {
  QTextBrowser::focusInEvent(event);
  emitToken();
}

/// Moves the selection by `steps` tokens from the token at the cursor.
void PolicyAnswers::goToToken(int steps) {
  if (m_tokens.empty()) return;
  const int at = textCursor().hasSelection() ? textCursor().selectionStart() : textCursor().position();
  const auto after = std::upper_bound(m_tokens.begin(), m_tokens.end(), at,
                                      [](int place, const auto& token) { return place < token.first; });
  const auto now = std::distance(m_tokens.begin(), after) - 1;
  const auto last = static_cast<std::ptrdiff_t>(m_tokens.size()) - 1;
  const auto wanted = std::clamp<std::ptrdiff_t>(now + steps, 0, last);
  QTextCursor cursor = textCursor();
  cursor.setPosition(m_tokens[static_cast<std::size_t>(wanted)].first);
  const int begin = cursor.position();
  const auto next = static_cast<std::size_t>(wanted) + 1;
  cursor.movePosition(QTextCursor::EndOfBlock);
  const int end =
      next < m_tokens.size() ? std::min(cursor.position(), m_tokens[next].first) : cursor.position();
  cursor.setPosition(end);
  cursor.setPosition(begin, QTextCursor::KeepAnchor);
  setTextCursor(cursor);
}

void PolicyAnswers::emitToken() {
  const int at = textCursor().hasSelection() ? textCursor().selectionStart() : textCursor().position();
  const auto after = std::upper_bound(m_tokens.begin(), m_tokens.end(), at,
                                      [](int place, const auto& token) { return place < token.first; });
  Q_EMIT tokenReached(after == m_tokens.begin() ? QString() : std::prev(after)->second);
}

}  // namespace spanscope::ui
