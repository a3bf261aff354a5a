// SPDX-License-Identifier: GPL-3.0-or-later
// Whether the tiers of the span store are worth it: loading beside computing, as it was measured here.
#pragma once

#include "ui/session/view_input.h"

#include <QString>
#include <QWidget>

class QLabel;
class QPushButton;

namespace spanscope::ui {

struct StoreCost {
  bool isMeasured = false;
  QString text;     ///< a sentence
  QString details;  ///< of every length that was measured, a line each; empty where none was
  bool operator==(const StoreCost&) const = default;
};

/// Of the model of the document.
StoreCost storeCost(const ViewInput& input);

/// Says it, with a button that measures.
class StoreCostStrip : public QWidget {
  Q_OBJECT
 public:
  explicit StoreCostStrip(QWidget* parent = nullptr);

  void showCost(const StoreCost& cost, const Theme& theme);
  const StoreCost& cost() const { return m_cost; }
  QPushButton& button() { return *m_measure; }

 Q_SIGNALS:
  void measureWanted();

 private:
  StoreCost m_cost;
  QLabel* m_text;
  QPushButton* m_measure;
};

}  // namespace spanscope::ui
