// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/notice_bar.h"

#include "ui/theme/theme.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QToolButton>

namespace spanscope::ui {

NoticeBar::NoticeBar(QWidget* parent) : QFrame(parent) {
  setObjectName(QStringLiteral("noticeBar"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(3 * kSpace, kSpace, 2 * kSpace, kSpace);
  row->setSpacing(2 * kSpace);
  auto* mark = new QLabel(QStringLiteral("⚠"));
  mark->setAccessibleName(tr("Note on the file"));
  row->addWidget(mark);
  m_text = new QLabel;
  m_text->setTextFormat(Qt::PlainText);
  m_text->setWordWrap(true);
  m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
  row->addWidget(m_text, 1);
  m_buttons = new QHBoxLayout;
  m_buttons->setSpacing(2 * kSpace);
  row->addLayout(m_buttons);
  hide();
}

void NoticeBar::setNotice(const FileNotice& notice) {
  if (notice == m_notice) return;
  m_notice = notice;
  while (QLayoutItem* item = m_buttons->takeAt(0)) {
    // The user may have just clicked this button, so the button is deleted later.
    item->widget()->hide();
    item->widget()->deleteLater();
    delete item;
  }
  m_text->setText(notice.text);
  setAccessibleName(notice.text);
  for (const FileAnswer answer : notice.answers) {
    auto* button = new QPushButton(answerText(answer));
    connect(button, &QPushButton::clicked, this, [this, answer] { Q_EMIT answered(answer); });
    m_buttons->addWidget(button);
  }
  setVisible(!notice.text.isEmpty());
}

QString runHintText(const StatusModel& status) {
  if (status.run == 0 || status.outcome != trace::RunOutcome::Finished) return {};
  if (status.events > 0 || status.promptTokens <= 0) return {};
  const QString all = QString::number(status.promptTokens);
  if (status.cachedTokens <= 0)
    return tr("%1: see how").arg(metricPart("computed-tokens", all, "prompt-tokens", all));
  return tr("%1: see why")
      .arg(metricPart("cached-tokens", QString::number(status.cachedTokens), "prompt-tokens", all));
}

RunHint::RunHint(QWidget* parent)
    : QWidget(parent), m_link(new QToolButton(this)), m_close(new QToolButton(this)) {
  m_link->setAutoRaise(true);
  m_link->setFocusPolicy(Qt::TabFocus);
  m_link->setToolTip(tr("Open Explain to see which blocks were reused and computed"));
  m_close->setAutoRaise(true);
  m_close->setFocusPolicy(Qt::TabFocus);
  m_close->setText(QStringLiteral("✕"));
  m_close->setToolTip(tr("Do not show this hint again"));
  m_close->setAccessibleName(m_close->toolTip());
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  row->addWidget(m_link);
  row->addWidget(m_close);
  connect(m_link, &QToolButton::clicked, this, &RunHint::wanted);
  connect(m_close, &QToolButton::clicked, this, &RunHint::dismissed);
  hide();
}

void RunHint::setText(const QString& text) {
  m_link->setText(text);
  m_link->setAccessibleName(text);
  setVisible(!text.isEmpty());
}

}  // namespace spanscope::ui
