// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the entropy of the attention of an answer (how widely it spreads), layer by layer.
#pragma once

#include "engine/jobs/attention_entropy.h"
#include "ui/views/common/input_view.h"
#include "ui/views/common/plot_library.h"

#include <memory>

class QLabel;
class QPushButton;

namespace spanscope::ui {

struct EntropyModel {
  jobs::EntropyChoice choice;  ///< request 0: no answer
  QString reason;              ///< why the entropy cannot be computed now; empty: computing is possible
  QString problem;             ///< why the computation failed
  bool isRunning = false;
  std::shared_ptr<const jobs::AttentionEntropy> entropy;  ///< null: not computed

  bool canCompute() const { return choice.request != 0 && reason.isEmpty() && !isRunning && !entropy; }
};
EntropyModel entropyModel(const ViewInput& input);
/// "Lowest in layer 12 with 0.42 nats, highest in layer 0 with 3.1. …"
QString entropySentence(const EntropyModel& model);

class AttentionEntropyView : public RunView {
  Q_OBJECT
 public:
  explicit AttentionEntropyView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;
  const EntropyModel& shownModel() const { return m_shown; }

 protected:
  void refresh() override;
  QString emptyText() const override;

 private:
  QString statusText() const;
  Role statusRole() const;
  void fillPlot();

  EntropyModel m_shown;
  QLabel* m_status;
  QPushButton* m_compute;
  QCustomPlot* m_plot;
  QLabel* m_sentence;
};

}  // namespace spanscope::ui
