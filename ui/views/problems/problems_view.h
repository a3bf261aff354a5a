// SPDX-License-Identifier: GPL-3.0-or-later
// What is wrong with the query, each at its node.
#pragma once

#include "ui/views/common/input_view.h"

#include <QTimer>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

class QLabel;
class QListView;

namespace spanscope::ui {

class ProblemListModel;
struct ProblemRow;

class ProblemsView : public InputView {
  Q_OBJECT
 public:
  explicit ProblemsView(QWidget* parent = nullptr);

  QString csv() const override;

 protected:
  void refresh() override;
  void modelChanged() override;

 private:
  void find();
  const ProblemRow* rowAt(const QModelIndex& index) const;
  std::int64_t countTokens(const std::string& text);
  std::int64_t contextLength();

  QListView* m_list;
  QLabel* m_empty;
  ProblemListModel* m_model;
  QTimer m_later;                                    ///< changes come in bursts
  std::shared_ptr<const text::Tokenizer> m_counted;  ///< whose counts are kept
  std::unordered_map<std::string, std::int64_t> m_counts;
  std::optional<std::string> m_modelDirectory;  ///< whose context length is kept
  std::int64_t m_contextLength = 0;
};

}  // namespace spanscope::ui
