// SPDX-License-Identifier: GPL-3.0-or-later
// A line above the map that says what is missing for the shown layer and head, with a button that computes
// it.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/attention/replay_offer.h"

#include <QWidget>

class QLabel;
class QPushButton;

namespace spanscope::ui {

class ReplayStrip : public QWidget {
  Q_OBJECT
 public:
  explicit ReplayStrip(QWidget* parent = nullptr);

  void setContent(const ReplayOffer& offer, const Theme& theme);
  const ReplayOffer& offer() const { return m_offer; }
  QPushButton& button() { return *m_button; }

 Q_SIGNALS:
  void computeWanted();
  void stopWanted();

 private:
  ReplayOffer m_offer;
  QLabel* m_text;
  QPushButton* m_button;
};

}  // namespace spanscope::ui
