// SPDX-License-Identifier: GPL-3.0-or-later
// Which nodes may be added where: pure functions of the document.
// The list from which a person chooses a new node: a search line, and the operators that fit, each with a
// short help.
#pragma once

#include "engine/workbench/document/document.h"
#include "engine/workbench/document/edits.h"
#include "ui/editor/node_paint.h"

#include <QFrame>
#include <QPoint>
#include <QString>

#include <optional>
#include <string>
#include <vector>

namespace spanscope::ui {

/// Where a new node goes.
struct AddPlace {
  enum class Kind {
    Root,     ///< as a new tree: the query if there is none, else a draft
    Child,    ///< as a new input of a node
    Above,    ///< between a node and its parent
    Replace,  ///< instead of a node; around the node if the new operator could not hold its text
    Wrap,     ///< around `nodes`
  };
  Kind kind = Kind::Root;
  /// Child: the parent; Above: the node below; Replace: the node to replace.
  document::NodeId node = document::kNoNode;
  std::size_t index = 0;                     ///< Child: index of the input
  std::optional<document::Point> at;         ///< where the person pointed
  std::vector<document::NodeId> nodes = {};  ///< to wrap
  bool operator==(const AddPlace&) const = default;
};

/// Where a new node goes while `selected` is selected: into that node if it is a join or has a free input,
/// else after it in its parent if that is a join, else above it. If no node is selected, the new node starts
/// a new tree.
AddPlace placeFor(const document::Document& document, document::NodeId selected);

/// The names of the operators that fit the place. The usual choices come first.
std::vector<std::string> fittingOperators(const document::Document& document, const AddPlace& place);

/// Why an operator does not fit the place, as a sentence; empty: it fits.
QString whyUnfit(const document::Document& document, const AddPlace& place, const std::string& op);

/// Adds the operator at the place, or replaces a node by it. Returns the node, or kNoNode if the operator
/// does not fit.
document::NodeId addOperator(document::Document& document, const AddPlace& place, const std::string& op);

/// What the popup says it does: "Input 2 of cross", "Takes user as its input".
QString describePlace(const document::Document& document, const AddPlace& place);

/// The first free input of a node: for a join the one after its last child, for others the first without a
/// child. Nothing if all are taken.
std::optional<std::size_t> freeInputOf(const document::DocumentNode& node);

/// Moves a subtree to a place, which may belong to the parent that it has already. If the parent stands in
/// the tidy layout, the subtree joins it. Returns false if it does not fit.
bool connectAt(document::Document& document, document::NodeId child, document::Place place);

// Wraps nodes: puts a new node between them and their parent.

/// The operators that can take all of these nodes as inputs. Nodes below others of them do not count. Empty
/// if the remaining nodes have different parents.
std::vector<std::string> wrappingOperators(const document::Document& document,
                                           const std::vector<document::NodeId>& nodes);

/// Adds a new node in the place of the first of the nodes, with all of them as its inputs in prompt order.
/// Returns kNoNode if the operator cannot take them; then nothing has changed.
document::NodeId wrapNodes(document::Document& document, const std::vector<document::NodeId>& nodes,
                           const std::string& op);

}  // namespace spanscope::ui
class QLabel;
class QLineEdit;
class QListWidget;

namespace spanscope::ui {

class AddPopup : public QFrame {
  Q_OBJECT
 public:
  explicit AddPopup(QWidget* parent);

  /// Opens the list and gives the search line the focus. `caption` says what choosing an operator does.
  /// `whyUnfit` says why an operator is not in the list.
  void open(const std::vector<std::string>& operators, const QString& caption, QPoint at, const Theme& theme,
            std::function<QString(const std::string&)> whyUnfit);

 Q_SIGNALS:
  void chosen(const QString& op);
  void closed();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void filter(const QString& text);
  void step(int by);
  void choose();
  void shut();
  void showHelp();

  std::vector<std::string> m_operators;
  std::function<QString(const std::string&)> m_whyUnfit;
  Theme m_theme;
  QLabel* m_caption;
  QLineEdit* m_search;
  QListWidget* m_list;
  QLabel* m_help;
};

/// Gives an overlay (popup, find bar, line edit) the colours of the theme.
void applyTheme(QWidget& widget, const Theme& theme);

}  // namespace spanscope::ui
