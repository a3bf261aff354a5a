// SPDX-License-Identifier: GPL-3.0-or-later
// The page of the probe: is block attention safe on the document's model, and which policy fits this model?
#pragma once

#include "engine/experiment/chart.h"
#include "engine/jobs/probe.h"
#include "ui/views/common/measure_page.h"

#include <QString>
#include <QStringList>
#include <QTimer>

class QCheckBox;
class QLabel;
class QPushButton;

namespace spanscope::ui {

class HeatMapChart;

struct ProbeModel {
  bool isKnown = false;  ///< there is a finished or running probe
  bool isRunning = false;
  double progress = 0;  ///< 0 … 1
  QString doing;        ///< the current action of a running probe
  QString setup;        ///< "SmolLM2 · CPU, 2 threads"
  QString verdict;      ///< the first sentence; empty: no question was measured
  QStringList warnings;
  QStringList remarks;
  PaintedTable table;  ///< a row for each policy
  experiment::HeatChart chart;
  /// The policy that the user can set for the document. Empty: there is none, the document has this policy,
  /// or the probe measured another model.
  QString offered;
  bool operator==(const ProbeModel&) const = default;
};

ProbeModel probeModel(const ViewInput& input);
/// A line for each policy of each model, with plain numbers.
QString probeCsv(const jobs::Probe& probe);

class ProbeView : public MeasurePage {
  Q_OBJECT
 public:
  explicit ProbeView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const ProbeModel& shownModel() const { return m_model; }
  QPushButton& useButton() { return *m_use; }

 protected:
  void refresh() override;
  QString introduction() const override;
  QString text() const override;
  QString command() const override;

 private:
  QWidget* makeResults();
  /// Whether the user wants questions over the documents of the query, and the query has such documents.
  bool asksOwn() const;
  QString estimate();
  /// Sets the recommended policy, in one undo step.
  void usePolicy();

  ProbeModel m_model;
  QCheckBox* m_own = nullptr;
  QPushButton* m_use = nullptr;
  QLabel* m_verdict = nullptr;
  HeatMapChart* m_chart = nullptr;
  QTimer m_asking;                                      ///< requests an estimate after a pause
  std::shared_ptr<const document::Document> m_checked;  ///< the document for which `m_own` was enabled or not
};

}  // namespace spanscope::ui
