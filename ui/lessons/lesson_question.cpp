// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/lesson_question.h"

#include "engine/lesson/answers.h"
#include "ui/manual/manual_browser.h"
#include "ui/words/tr.h"

#include <QAbstractTextDocumentLayout>
#include <QFocusEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QMouseEvent>
#include <QPushButton>
#include <QRadioButton>
#include <QResizeEvent>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QVBoxLayout>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

namespace spanscope::ui {

namespace {

/// The text of a choice next to its radio button. A click on the text checks the button.
class ChoiceText : public QLabel {
 public:
  ChoiceText(const QString& text, QRadioButton& button) : QLabel(text), m_button(button) {}

 protected:
  void mousePressEvent(QMouseEvent* event) override {
    event->accept();
    m_button.setChecked(true);
    m_button.setFocus(Qt::MouseFocusReason);
  }

 private:
  QRadioButton& m_button;
};

/// Makes a row with a radio button and a text of several lines. Qt's own text of a button has only one line.
QWidget* choiceRow(QRadioButton* button, const QString& text, const Theme& theme, int larger) {
  auto* row = new QWidget;
  auto* line = new QHBoxLayout(row);
  line->setContentsMargins(0, 0, 0, 0);
  line->setSpacing(2 * kSpace);
  auto* label = new ChoiceText(text, *button);
  label->setWordWrap(true);
  label->setTextFormat(Qt::PlainText);
  QFont font = theme.interfaceFont();
  font.setPixelSize(font.pixelSize() + 1 + larger);
  label->setFont(font);
  button->setAccessibleName(text);
  line->addWidget(button, 0, Qt::AlignTop);
  line->addWidget(label, 1);
  return row;
}

}  // namespace

LessonQuestion::LessonQuestion(const lesson::FilledQuestion& question, const QuestionState& state,
                               const Theme& theme, int larger, QWidget* parent)
    : QFrame(parent), m_kind(question.kind) {
  const LessonAnswer* const answer = state.answer;
  const AnswerVerdict verdict = state.verdict;
  setObjectName(QStringLiteral("lessonQuestion"));
  // Qt's own circles have too little contrast in the dark theme.
  setStyleSheet(
      QStringLiteral("#lessonQuestion { background: %1; border: 1px solid %2; border-left: 3px solid %3; "
                     "border-radius: 6px; }"
                     "QRadioButton::indicator { width: 12px; height: 12px; border: 1px solid %4; "
                     "border-radius: 7px; background: %5; }"
                     "QRadioButton::indicator:checked { width: 6px; height: 6px; border: 4px solid %3; }"
                     "QRadioButton::indicator:focus { border-color: %3; }")
          .arg(theme.color(Role::Canvas).name(), theme.color(Role::Line).name(),
               theme.color(Role::Accent).name(), theme.color(Role::TextSecond).name(),
               theme.color(Role::Surface).name()));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(3 * kSpace, 2 * kSpace, 3 * kSpace, 3 * kSpace);
  column->setSpacing(2 * kSpace);
  auto* head = new QLabel(answer == nullptr ? tr("What do you expect?") : tr("Your expectation"));
  head->setFont(theme.smallFont());
  head->setStyleSheet(QStringLiteral("color: %1;").arg(theme.color(Role::TextSecond).name()));
  column->addWidget(head);
  auto* text = new LessonText;
  text->showPage(markdownOf(question.text), theme, larger);
  connect(text, &QTextBrowser::anchorClicked, this, &LessonQuestion::linkActivated);
  column->addWidget(text);
  const QString asked = plainText(markdownOf(question.text));
  setAccessibleName(tr("Question: %1").arg(asked));

  if (answer != nullptr) {
    auto* said = new QLabel(verdictText(question, *answer, verdict));
    said->setObjectName(QStringLiteral("lessonVerdict"));
    said->setWordWrap(true);
    said->setTextFormat(Qt::PlainText);
    QFont font = theme.interfaceFont();
    font.setPixelSize(font.pixelSize() + 1 + larger);
    font.setWeight(QFont::DemiBold);
    said->setFont(font);
    said->setStyleSheet(
        QStringLiteral("color: %1;")
            .arg(theme.color(verdict == AnswerVerdict::Right ? Role::Accent : Role::Text).name()));
    column->addWidget(said);
    if (verdict != AnswerVerdict::Open && !question.why.pieces.empty()) {
      auto* why = new LessonText;
      why->showPage(markdownOf(question.why), theme, larger);
      connect(why, &QTextBrowser::anchorClicked, this, &LessonQuestion::linkActivated);
      column->addWidget(why);
    }
    if (state.mayChange) {
      auto* change = new QPushButton(tr("Change answer"));
      change->setFlat(true);
      change->setToolTip(tr("Answer again before the run"));
      connect(change, &QPushButton::clicked, this, &LessonQuestion::changeWanted);
      column->addWidget(change, 0, Qt::AlignLeft);
    }
    return;
  }
  if (!state.note.isEmpty()) {
    auto* note = new QLabel(state.note);
    note->setObjectName(QStringLiteral("lessonSecondTry"));
    note->setWordWrap(true);
    note->setTextFormat(Qt::PlainText);
    QFont font = theme.interfaceFont();
    font.setPixelSize(font.pixelSize() + 1 + larger);
    font.setWeight(QFont::DemiBold);
    note->setFont(font);
    column->addWidget(note);
  }
  auto* row = new QHBoxLayout;
  row->setSpacing(2 * kSpace);
  if (m_kind == lesson::Question::Kind::Choice) {
    for (const lesson::FilledChoice& choice : question.choices) {
      auto* button = new QRadioButton;
      // Each button has its own parent, so Qt would make a group per button.
      button->setAutoExclusive(false);
      connect(button, &QRadioButton::toggled, this, [this, button](bool isOn) {
        for (QRadioButton* other : m_choices) {
          if (isOn && other != button) other->setChecked(false);
        }
        refresh();
      });
      m_choices.push_back(button);
      column->addWidget(choiceRow(button, QString::fromStdString(choice.text), theme, larger));
    }
  } else {
    m_number = new QLineEdit;
    m_number->setMaximumWidth(110);
    const bool isBlock = m_kind == lesson::Question::Kind::Block;
    m_number->setPlaceholderText(isBlock ? tr("a block") : tr("a number"));
    m_number->setAccessibleName(isBlock ? tr("Number of the block") : tr("Your number"));
    m_number->setToolTip(isBlock ? tr("Select a block in any view, or type its number") : QString());
    connect(m_number, &QLineEdit::textChanged, this, &LessonQuestion::refresh);
    connect(m_number, &QLineEdit::returnPressed, this, [this] {
      if (m_answer->isEnabled()) m_answer->click();
    });
    auto* place = new QHBoxLayout;
    place->setSpacing(2 * kSpace);
    place->addWidget(m_number);
    if (isBlock) {
      auto* hint = new QLabel(tr("or click a block"));
      hint->setFont(theme.smallFont());
      place->addWidget(hint);
    }
    place->addStretch();
    column->addLayout(place);
  }
  m_answer = new QPushButton(tr("Answer"));
  m_answer->setObjectName(QStringLiteral("primary"));
  m_answer->setToolTip(tr("Submit this answer; the run then shows the right answer"));
  auto* skip = new QPushButton(tr("Skip question"));
  skip->setFlat(true);
  skip->setToolTip(tr("Continue without an answer"));
  connect(m_answer, &QPushButton::clicked, this, [this] { Q_EMIT answered(given()); });
  connect(skip, &QPushButton::clicked, this, [this] { Q_EMIT answered({}); });
  row->addWidget(m_answer);
  row->addWidget(skip);
  row->addStretch();
  column->addLayout(row);
  m_reminder = new QLabel(tr("Answer the question, or skip it. Then the lesson continues."));
  m_reminder->setObjectName(QStringLiteral("lessonReminder"));
  m_reminder->setWordWrap(true);
  m_reminder->setFont(theme.smallFont());
  m_reminder->setStyleSheet(QStringLiteral("color: %1;").arg(theme.color(Role::Accent).name()));
  m_reminder->hide();
  column->addWidget(m_reminder);
  refresh();
}

void LessonQuestion::remind() {
  if (m_reminder != nullptr) m_reminder->show();
  takeFocus();
}

LessonAnswer LessonQuestion::given() const {
  LessonAnswer answer;
  if (m_number != nullptr && isNumber(m_number->text())) answer.number = m_number->text().trimmed();
  for (std::size_t i = 0; i < m_choices.size(); ++i) {
    if (m_choices[i]->isChecked()) answer.choice = i;
  }
  return answer;
}

void LessonQuestion::refresh() {
  if (m_answer != nullptr) m_answer->setEnabled(given().isGiven());
}

void LessonQuestion::setBlock(std::size_t number) {
  if (m_kind == lesson::Question::Kind::Block && m_number != nullptr)
    m_number->setText(QString::number(number));
}

void LessonQuestion::takeFocus() {
  if (m_number != nullptr)
    m_number->setFocus(Qt::OtherFocusReason);
  else if (!m_choices.empty())
    m_choices.front()->setFocus(Qt::OtherFocusReason);
}

namespace {

QString escaped(const QString& text) {
  static const QString marks = QStringLiteral("\\`*_{}[]()<>#+-!|~&");
  QString out;
  // Whether all characters so far are digits: "1." at the beginning of a line would begin a list.
  bool isCounting = true;
  for (const QChar c : text.simplified()) {
    const bool endsNumber = isCounting && !out.isEmpty() && c == QLatin1Char('.');
    if (marks.contains(c) || endsNumber) out += QLatin1Char('\\');
    isCounting = isCounting && c >= QLatin1Char('0') && c <= QLatin1Char('9');
    out += c;
  }
  return out;
}

QString rightAnswer(const lesson::FilledQuestion& question) {
  if (question.kind != lesson::Question::Kind::Choice) {
    const QString answer = QString::fromStdString(question.answer);
    return question.kind == lesson::Question::Kind::Block ? tr("block %1").arg(answer) : answer;
  }
  for (const lesson::FilledChoice& choice : question.choices) {
    if (choice.isRight.value_or(false)) return QString::fromStdString(choice.text);
  }
  return {};
}

}  // namespace

bool isNumber(const QString& text) {
  return lesson::leadingNumber(text.toStdString()).has_value();
}

AnswerVerdict judge(const lesson::FilledQuestion& question, const LessonAnswer& answer, bool decided) {
  if (!answer.isGiven()) return AnswerVerdict::None;
  if (!decided) return AnswerVerdict::Open;
  switch (lesson::gradeOf(question, {.number = answer.number.toStdString(), .choice = answer.choice})) {
    case lesson::Grade::Right:
      return AnswerVerdict::Right;
    case lesson::Grade::Close:
      return AnswerVerdict::Close;
    case lesson::Grade::Wrong:
      return AnswerVerdict::Wrong;
    case lesson::Grade::Skipped:
      return AnswerVerdict::None;
    case lesson::Grade::Unknown:
      break;
  }
  return AnswerVerdict::Unknown;
}

QString verdictText(const lesson::FilledQuestion& question, const LessonAnswer& answer,
                    AnswerVerdict verdict) {
  const QString right = rightAnswer(question);
  QString said = answer.number;
  if (answer.choice && *answer.choice < question.choices.size())
    said = QString::fromStdString(question.choices[*answer.choice].text);
  switch (verdict) {
    case AnswerVerdict::Right:
      return tr("✓ Right: %1").arg(right);
    case AnswerVerdict::Close:
      return tr("≈ Close: your answer is %1, the value is %2").arg(said, right);
    case AnswerVerdict::Wrong:
      return tr("✗ Your answer: %1. Right: %2").arg(said, right);
    case AnswerVerdict::Open:
      return tr(/*id:you-said-run*/ "Your answer: %1. A run in one of the next steps shows the result.")
          .arg(said);
    case AnswerVerdict::Unknown:
      return tr("Your answer: %1. The value is not available: %2.")
          .arg(said, QString::fromStdString(question.missing));
    case AnswerVerdict::None:
      return tr("You skipped this question.");
  }
  return {};
}

QString markdownOf(const lesson::FilledProse& prose) {
  QString text;
  for (const lesson::FilledPiece& piece : prose.pieces) {
    const QString own = QString::fromStdString(piece.text);
    switch (piece.kind) {
      case lesson::FilledPiece::Kind::Text:
        text += own;
        break;
      case lesson::FilledPiece::Kind::Metric:
        text += escaped(own);
        break;
      case lesson::FilledPiece::Kind::Missing:
        text += QLatin1Char('*') + escaped(tr("not known: %1").arg(own)) + QLatin1Char('*');
        break;
    }
  }
  return text;
}

QString plainText(const QString& markdown) {
  QTextDocument document;
  document.setMarkdown(markdown, QTextDocument::MarkdownNoHTML);
  return document.toPlainText();
}

namespace {

constexpr int kFrame = 2;  // pixels: both sides of the frame that shows the focus

}  // namespace

LessonText::LessonText(QWidget* parent) : QTextBrowser(parent) {
  setObjectName(QStringLiteral("lessonText"));
  setStyleSheet(
      QStringLiteral("#lessonText { border: 1px solid transparent; padding: 0; background: transparent }"));
  setFrameShape(QFrame::NoFrame);
  setOpenLinks(false);
  setTextInteractionFlags(Qt::TextBrowserInteraction | Qt::TextSelectableByKeyboard);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  viewport()->setAutoFillBackground(false);
}

void LessonText::showPage(const QString& markdown, const Theme& theme, int larger) {
  document()->setMarkdown(markdown, QTextDocument::MarkdownFeatures(QTextDocument::MarkdownDialectGitHub) |
                                        QTextDocument::MarkdownNoHTML);
  styleManual(*document(), theme, larger);
  document()->setDocumentMargin(0);
  // Qt's indent of lists is a quarter of a narrow panel.
  document()->setIndentWidth(5 * kSpace + larger);
  // The keyboard can only reach links, so a text without links takes no focus from the keyboard.
  setFocusPolicy(markdown.contains(QLatin1String("](")) ? Qt::StrongFocus : Qt::ClickFocus);
  setAccessibleName(document()->toPlainText());
  updateGeometry();
}

void LessonText::point(const QUrl& link, int at) {
  m_at = at;
  if (m_link == link) return;
  m_link = link;
  Q_EMIT pointedChanged();
}

QUrl LessonText::pointedLink() const {
  return m_link;
}

std::vector<QRect> LessonText::pointedWords() const {
  if (m_link.isEmpty()) return {};
  const QTextBlock block = document()->findBlock(m_at);
  int begin = -1;
  int end = -1;
  // A link with emphasized words has several fragments.
  for (auto it = block.begin(); !it.atEnd(); ++it) {
    const QTextFragment fragment = it.fragment();
    const bool isLink = QUrl(fragment.charFormat().anchorHref()) == m_link;
    if (isLink && begin < 0) begin = fragment.position();
    if (isLink) end = fragment.position() + fragment.length();
    if (!isLink && begin >= 0 && end > m_at) break;
    if (!isLink) begin = -1;
  }
  if (begin < 0 || end <= m_at) return {};
  std::vector<QRect> words;
  QTextCursor cursor(document());
  for (int at = begin; at < end; ++at) {
    cursor.setPosition(at);
    const QRect left = cursorRect(cursor);
    cursor.setPosition(at + 1);
    const QRect right = cursorRect(cursor);
    QRect letter = left;
    if (right.top() == left.top()) letter.setRight(right.left());
    if (words.empty() || words.back().top() != letter.top())
      words.push_back(letter);
    else
      words.back() |= letter;
  }
  for (QRect& word : words) word.translate(viewport()->pos());
  return words;
}

/// Tab moves from link to link.
bool LessonText::focusNextPrevChild(bool next) {
  const bool isTaken = QTextBrowser::focusNextPrevChild(next);
  const QTextCursor cursor = textCursor();
  if (hasFocus() && cursor.hasSelection()) {
    m_isByKey = true;
    QTextCursor first(document());
    first.setPosition(cursor.selectionStart() + 1);
    point(QUrl(first.charFormat().anchorHref()), cursor.selectionStart());
  }
  return isTaken;
}

void LessonText::focusInEvent(QFocusEvent* event) {
  QTextBrowser::focusInEvent(event);
  // The focus goes directly to the first or last link, not to the text before.
  if (event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason)
    focusNextPrevChild(event->reason() == Qt::TabFocusReason);
}

void LessonText::focusOutEvent(QFocusEvent* event) {
  QTextBrowser::focusOutEvent(event);
  if (std::exchange(m_isByKey, false)) point({}, 0);
}

void LessonText::mouseMoveEvent(QMouseEvent* event) {
  QTextBrowser::mouseMoveEvent(event);
  const QString link = anchorAt(event->pos());
  if (link.isEmpty() && m_isByKey) return;
  if (!link.isEmpty()) m_isByKey = false;
  point(QUrl(link), document()->documentLayout()->hitTest(event->pos(), Qt::ExactHit));
}

void LessonText::leaveEvent(QEvent* event) {
  QTextBrowser::leaveEvent(event);
  if (!m_isByKey) point({}, 0);
}

QVariant LessonText::loadResource(int, const QUrl&) {
  return {};
}

int LessonText::heightForWidth(int width) const {
  const std::unique_ptr<QTextDocument> copy(document()->clone());
  copy->setDocumentMargin(0);
  copy->setTextWidth(width - kFrame);
  return static_cast<int>(std::ceil(copy->size().height())) + kFrame + 2;
}

QSize LessonText::sizeHint() const {
  const int wide = width() > 0 ? width() : 320;
  return {320, heightForWidth(wide)};
}

QSize LessonText::minimumSizeHint() const {
  return {120, sizeHint().height()};
}

void LessonText::resizeEvent(QResizeEvent* event) {
  QTextBrowser::resizeEvent(event);
  if (event->size().width() != event->oldSize().width()) updateGeometry();
}

/// The page scrolls, not this text.
void LessonText::wheelEvent(QWheelEvent* event) {
  event->ignore();
}

}  // namespace spanscope::ui
