// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/notice_bar.h"

#include "ui/theme/theme.h"

#include <QHBoxLayout>
#include <QPushButton>

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
    // This may be the button that was just pressed, so it is not deleted at once.
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

}  // namespace spanscope::ui
