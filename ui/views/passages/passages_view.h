// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the passages that the selected augment retrieved in a run, with scores. The user can pin and drop
// passages for the next run.
#pragma once

#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/common/input_view.h"
#include "ui/views/common/table_painting.h"

#include <QPointer>
#include <QString>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

class QAction;
class QComboBox;
class QSpinBox;

namespace spanscope::ui {

struct PassageRow {
  QString hash;
  std::uint32_t rank = 0;  ///< from 1; 0: the passage is pinned and not ranked
  double score = 0;
  QString found;   ///< ranks and scores, e.g. "words 1 (8.12) · vectors 3 (0.71)"
  QString source;  ///< document, and place in it
  QString text;
  bool inPrompt = false;  ///< the passage was in the prompt of the run.
  /// The user's current mark in the document, for the next run.
  std::optional<document::PassageMark> mark;
  bool isChanged = false;  ///< the mark differs from the run's
  bool operator==(const PassageRow&) const = default;
};

struct PassagesContent {
  /// The augment; kNoNode: there is none, or no run has retrieved for it.
  document::NodeId node = document::kNoNode;
  RunId run = 0;
  QString question;
  QString ranking;  ///< "lexical", "embedding", "hybrid"
  std::uint64_t documents = 0;
  std::vector<PassageRow> rows;  ///< first the passages in the prompt, in their order there
  bool canMark = false;          ///< the node is an augment of the document
  bool isAsked = false;          ///< an augment is selected, but no run has retrieved for it
  bool operator==(const PassagesContent&) const = default;
};

/// Returns the passages of the selected node, from the last run up to the input's position that retrieved for
/// it. If the selected node does not retrieve, uses the first augment of the last run with an augment.
PassagesContent passagesContent(const ViewInput& input);

/// "5 in the prompt · 18 documents · hybrid". Empty if there is nothing.
QString passagesSummary(const PassagesContent& content);

/// The passages of an augment as a table: state, rank, score, text, source, and what found the passage. The
/// state is that in the run, or in the next run: "in the prompt", "pinned", "dropped, next run", …
PaintedTable passagesTable(const PassagesContent& content);

class TableView;
class PaintedTableModel;

class PassagesView : public RunView {
  Q_OBJECT
 public:
  explicit PassagesView(QWidget* parent = nullptr);

  void setModel(DocumentModel* model) override;
  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

 protected:
  void refresh() override;
  QString emptyText() const override;

 private:
  void makeControls();
  QString whatWillStandHere() const;
  void showControls();
  /// Gives the current row this mark, or removes the mark if the row already has this mark.
  void toggleMark(document::PassageMark mark);
  void changeSettings(const QString& name, const std::function<void(document::RunSettings&)>& change);
  const PassageRow* currentRow() const;  ///< nullptr: there is none

  PassagesContent m_content;
  PaintedTableModel* m_list;
  TableView* m_table;
  QPointer<QComboBox> m_ranking;
  QPointer<QSpinBox> m_count;
  QAction* m_pin = nullptr;
  QAction* m_drop = nullptr;
};

}  // namespace spanscope::ui
