// SPDX-License-Identifier: GPL-3.0-or-later
// Says whether the tiers of the span store are worth it: loading compared with computing, as measured on this
// machine.
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
  QString details;  ///< one line for each measured length; empty if nothing was measured
  bool operator==(const StoreCost&) const = default;
};

/// The cost for the document's model.
StoreCost storeCost(const ViewInput& input);

/// Shows a StoreCost, with a button that measures it.
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
