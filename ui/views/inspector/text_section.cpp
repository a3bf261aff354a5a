// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/inspector/text_section.h"

#include "engine/base/error.h"
#include "ui/views/inspector/inspector_model.h"

#include <QCoreApplication>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPointer>
#include <QThreadPool>
#include <QVBoxLayout>

#include <utility>

namespace spanscope::ui {
namespace {

/// Longer texts are counted on another thread.
constexpr std::size_t kCountedAtOnce = 128;

}  // namespace

TextSection::TextSection(DocumentUndo::ModelOf model, QWidget* parent)
    : QWidget(parent),
      m_label(new QLabel(this)),
      m_editor(new QPlainTextEdit(this)),
      m_count(new QLabel(this)) {
  m_editor->setObjectName(QStringLiteral("text"));
  m_editor->setTabChangesFocus(true);
  m_editor->setUndoRedoEnabled(false);
  new DocumentUndo(m_editor, std::move(model));
  m_label->setBuddy(m_editor);
  m_count->setObjectName(QStringLiteral("count"));
  m_count->setAlignment(Qt::AlignRight);
  m_count->setToolTip(
      tr("Tokens of the text only. The node card also counts the tokens of the chat template."));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(kSpace);
  layout->addWidget(m_label);
  layout->addWidget(m_editor, 1);
  layout->addWidget(m_count);
  connect(m_editor, &QPlainTextEdit::textChanged, this, [this] {
    if (m_isSetting) return;
    m_shown = m_editor->toPlainText().toStdString();
    count();
    Q_EMIT edited();
  });
}

TextSection::~TextSection() {
  m_counting.request_stop();
}

void TextSection::setLabel(const QString& label) {
  m_label->setText(label);
  m_editor->setAccessibleName(label);
}

void TextSection::setText(const std::string& text) {
  if (text == m_shown) {
    count();
    return;
  }
  m_shown = text;
  m_isSetting = true;
  replaceText(*m_editor, QString::fromStdString(text));
  m_isSetting = false;
  count();
}

std::string TextSection::text() const {
  return m_shown;
}

void TextSection::setReadOnly(bool isReadOnly) {
  m_editor->setReadOnly(isReadOnly);
}

void TextSection::setCounting(std::shared_ptr<const text::Tokenizer> tokenizer) {
  if (tokenizer != m_tokenizer) m_counted.reset();
  m_tokenizer = std::move(tokenizer);
}

void TextSection::setCounted(bool isCounted) {
  m_isCounted = isCounted;
  m_count->setVisible(isCounted);
}

void TextSection::count() {
  if (!m_isCounted || m_counted == m_shown) return;
  m_counted = m_shown;
  const int serial = ++m_countSerial;
  m_counting.request_stop();
  m_counting = {};
  if (m_tokenizer == nullptr) {
    m_counted.reset();
    m_count->setText(tr(/*id:no-model-loaded*/ "no model loaded"));
    return;
  }
  if (m_shown.size() <= kCountedAtOnce) {
    m_count->setText(tokenText(static_cast<std::int64_t>(m_tokenizer->count(m_shown))));
    return;
  }
  QThreadPool::globalInstance()->start([self = QPointer(this), serial, tokenizer = m_tokenizer,
                                        text = m_shown, context = QPointer<QObject>(qApp),
                                        stop = m_counting.get_token()] {
    std::int64_t tokens = 0;
    try {
      tokens = static_cast<std::int64_t>(tokenizer->count(text, {.stop = stop}));
    } catch (const Failure&) {
      return;  // another text came, or this text cannot be encoded, which a run reports
    }
    // The section may be destroyed by then, but the application outlives the jobs of the thread pool.
    if (context == nullptr) return;
    QMetaObject::invokeMethod(
        context.data(),
        [self, serial, tokens] {
          if (self != nullptr && self->m_countSerial == serial) self->m_count->setText(tokenText(tokens));
        },
        Qt::QueuedConnection);
  });
}

void TextSection::setTheme(const Theme& theme) {
  m_label->setFont(theme.smallFont());
  m_count->setFont(theme.smallFont());
  colorLabel(*m_label, theme, Role::TextSecond);
  colorLabel(*m_count, theme, Role::TextThird);
  m_editor->setFont(theme.interfaceFont());
}

void TextSection::focusText() {
  m_editor->setFocus(Qt::OtherFocusReason);
  m_editor->moveCursor(QTextCursor::End);
}

QString TextSection::countText() const {
  return m_count->text();
}

}  // namespace spanscope::ui
