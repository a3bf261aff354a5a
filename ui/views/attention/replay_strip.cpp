// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/replay_strip.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

namespace spanscope::ui {

ReplayStrip::ReplayStrip(QWidget* parent)
    : QWidget(parent), m_text(new QLabel(this)), m_button(new QPushButton(this)) {
  m_text->setTextFormat(Qt::PlainText);
  m_text->setWordWrap(true);
  m_text->setMinimumWidth(0);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, kSpace, 0, kSpace);
  row->setSpacing(2 * kSpace);
  row->addWidget(m_text, 1);
  row->addWidget(m_button, 0, Qt::AlignTop);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
  connect(m_button, &QPushButton::clicked, this, [this] {
    if (m_offer.isComputing)
      Q_EMIT stopWanted();
    else
      Q_EMIT computeWanted();
  });
}

void ReplayStrip::setContent(const ReplayOffer& offer, const Theme& theme) {
  m_offer = offer;
  m_text->setText(offer.text);
  m_text->setFont(theme.smallFont());
  const QString style = QStringLiteral("color: %1").arg(theme.color(Role::TextSecond).name());
  if (m_text->styleSheet() != style) m_text->setStyleSheet(style);
  m_button->setVisible(offer.choice.has_value());
  m_button->setEnabled(offer.isComputing || offer.canCompute);
  m_button->setText(offer.isComputing ? tr("Stop") : tr("Compute again"));
  m_button->setToolTip(offer.isComputing
                           ? tr("Stop computing")
                           : tr("Replay the answer over the cached blocks, to see its blocks and tokens"));
  m_button->setAccessibleDescription(offer.text);
  setVisible(!offer.text.isEmpty());
}

}  // namespace spanscope::ui
