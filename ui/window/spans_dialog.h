// SPDX-License-Identifier: GPL-3.0-or-later
// Asks which parts of a logged request become spans.
#pragma once

#include "engine/doctor/span_query.h"
#include "ui/session/view_input.h"

#include <QDialog>
#include <QString>
#include <QStringList>

#include <memory>
#include <stop_token>
#include <vector>

class QLabel;
class QRadioButton;
class QTreeWidget;

namespace spanscope::ui {

class TaskThread;

class SpansDialog : public QDialog {
  Q_OBJECT
 public:
  /// `log`: the files of the log, in which the parts of the request are counted.
  SpansDialog(const doctor::LoggedRequest& request, const QStringList& log, const ViewInput& input,
              QWidget* parent);
  ~SpansDialog() override;

  /// The query with the accepted proposals.
  doctor::SpanQuery query() const;
  const std::vector<doctor::SpanProposal>& proposals() const { return m_proposals; }
  /// Whether the parts of the log are counted.
  bool isCounted() const { return m_isCounted; }

 private:
  void showProposals();
  /// The risk of independent parts by the newest probe; a note if there is none.
  QString risk() const;

  doctor::LoggedRequest m_request;
  const ViewInput& m_input;
  doctor::PartCounts m_counts;
  bool m_isCounted = false;
  std::vector<doctor::SpanProposal> m_proposals;
  QTreeWidget* m_list;
  QLabel* m_note;
  QRadioButton* m_template;
  std::stop_source m_stop;
  std::unique_ptr<TaskThread> m_counting;
};

}  // namespace spanscope::ui
