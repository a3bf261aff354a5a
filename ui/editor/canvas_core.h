// SPDX-License-Identifier: GPL-3.0-or-later
// Holds the state that the parts of the canvas share: the drawn document, the layout of its nodes, their
// state in the trace, and the selection. Every change of the document goes through CanvasCore.
#pragma once

#include "ui/document/document_model.h"
#include "ui/editor/node_look.h"
#include "ui/editor/node_prediction.h"
#include "ui/editor/node_status.h"
#include "ui/editor/tidy_layout.h"
#include "ui/session/simulator_asker.h"
#include "ui/session/view_input.h"

#include <QObject>
#include <QPointer>
#include <QString>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace spanscope::ui {

/// A frame or a note.
struct AreaRef {
  enum class Kind { None, Frame, Note };
  Kind kind = Kind::None;
  std::uint32_t id = 0;
  bool operator==(const AreaRef&) const = default;
};

class CanvasCore : public QObject {
  Q_OBJECT
 public:
  explicit CanvasCore(QObject* parent = nullptr);

  void setModel(DocumentModel* model);
  DocumentModel* model() const { return m_model; }
  void setInput(const ViewInput& input);
  /// Sets the known facts of the user's servers. The cache simulators of the servers use these facts.
  void useServers(std::shared_ptr<const KnownServers> servers);
  const ViewInput* input() const { return m_input ? &*m_input : nullptr; }
  const Theme& theme() const { return m_theme; }

  /// The current document. Without a model and an input, the document is empty.
  const document::Document& document() const { return *m_document; }
  /// The drawn document, including the effect of the gesture in progress.
  const document::Document& drawn() const { return m_preview ? *m_preview : *m_document; }
  const std::map<document::NodeId, document::Rect>& layout() const { return m_layout; }
  const std::map<document::NodeId, NodeLook>& looks() const { return m_looks; }
  const Stacks& stacks() const { return m_stacks; }
  const document::Rect* rectOf(document::NodeId id) const;  ///< nullptr: not drawn
  const NodeStatus& statusOf(document::NodeId id) const;
  /// Returns the status of all nodes in a stack together. The status has the sum of the tokens, and shows
  /// whether a node is running or has failed.
  NodeStatus statusOf(const Stack& stack) const;
  const NodeStatuses& statuses() const { return m_statuses; }
  /// Returns the prediction for this node. Null: there is no prediction, the prediction equals the shown run,
  /// or predictions are not shown. If servers run the document, the cache simulators of these servers
  /// predict. Predictions are shown only beside the newest state, and not during a run.
  const NodePrediction* predictionOf(document::NodeId id) const;
  void setPredictionsShown(bool shown);
  bool arePredictionsShown() const { return m_predictionsShown; }
  /// Returns the tool tip of the node, which may be empty. The tool tip explains the operator, and how the
  /// last and the next run serve the tokens.
  QString tipOf(document::NodeId id) const;

  /// Sets the max height of each tree in scene pixels. 0: no limit. Stacking keeps this height. If all trees
  /// fit into the height `whole`, nothing is stacked.
  void setRoom(double height, double whole = 0);
  /// Draws all inputs of a list node one by one, or stacks the inputs that do not fit.
  void setSpread(document::NodeId list, bool spread);
  /// Draws these nodes outside of stacks, together with the selected and running nodes, until the next call.
  /// Returns whether the stacks changed.
  bool setNamed(std::set<document::NodeId> nodes);
  bool isSpread(document::NodeId list) const { return m_stackChoices.opened.contains(list); }
  /// Undoes every setSpread() and open(), so that lists are stacked again.
  void stackAll();
  /// Opens the stack: draws all inputs of the stack's list node one by one.
  void open(const Stack& stack);
  /// The stack whose members are exactly the selection; nullptr if there is none.
  const Stack* selectedStack() const;

  /// Draws the document that would result from a gesture. If `preview` is empty, draws the document itself.
  void setPreview(std::optional<document::Document> preview);
  bool hasPreview() const { return m_preview.has_value(); }

  /// Makes the drawn place of the root explicit, for changes that must not move trees. Otherwise a query that
  /// grows or shrinks would move over the other trees, or away from these trees.
  void placeRoot(document::Document& document) const;
  /// Calls placeRoot() if any tree has an explicit place. The tree with the top `connected` does not count.
  void placeRootBeside(document::Document& document, document::NodeId connected) const;

  /// Changes the document in one undo step. Returns false if there is no model or nothing changed.
  bool change(const QString& name, const std::function<void(document::Document&)>& change);

  const std::vector<document::NodeId>& selection() const { return m_selection; }
  document::NodeId current() const { return m_selection.empty() ? document::kNoNode : m_selection.back(); }
  bool isSelected(document::NodeId id) const;
  void select(std::vector<document::NodeId> nodes);
  AreaRef selectedArea() const { return m_area; }
  void selectArea(AreaRef area);
  /// Shows the node's next answer, which is the answer of the next copy of the node's step.
  void showNextAnswer(document::NodeId node);

  /// Reports that nodes were added and selected, so that the canvas shows the nodes.
  void traceAdded();
  void say(const QString& text) { Q_EMIT messageWanted(text); }
  /// Reports the paths of pasted files, which the window reads.
  void reportPasted(const QStringList& paths) { Q_EMIT filesPasted(paths); }

 Q_SIGNALS:
  void drawnChanged();  ///< the drawn document or its layout changed.
  /// The content of these nodes changed, but all drawn nodes kept their places.
  void looksChanged(const std::vector<spanscope::document::NodeId>& nodes);
  void statusesChanged();   ///< statuses or predictions changed
  void selectionChanged();  ///< selected nodes, or the selected area
  void themeChanged();
  void added();
  void selectionWanted(const spanscope::ui::Selection& selection);
  void messageWanted(const QString& text);
  void filesPasted(const QStringList& paths);

 private:
  void takeDocument(std::shared_ptr<const document::Document> document);
  void redraw();
  SegmentIdentities identities();
  /// Gives nodes their current numbers and hues, without a new layout.
  void takeIdentities();
  /// Decides which nodes are stacked. Returns whether the stacks changed.
  bool restack();
  /// Takes selected, running and named nodes out of stacks. Returns whether the stacks changed.
  bool showWanted();
  std::set<document::NodeId> wanted() const;
  /// Returns the nodes that differ from `before`, if only the content of single nodes differs.
  std::optional<std::vector<document::NodeId>> editedInPlace(const document::Document& before) const;
  void redrawNodes(const std::vector<document::NodeId>& nodes);
  void takePrediction();
  void usePredictions(NodePredictions predictions);
  /// Sets the predicted number of tokens of texts that no run has shown yet. This number includes the tokens
  /// that the chat template puts around a text.
  void countFromPrediction(NodeStatuses& statuses) const;
  void updateStatuses();
  void updateStatuses(const std::vector<document::NodeId>& nodes);

  QPointer<DocumentModel> m_model;
  std::optional<ViewInput> m_input;
  Theme m_theme;
  std::shared_ptr<const document::Document> m_document;
  std::optional<document::Document> m_preview;
  SegmentRecords m_book;
  SegmentIdentities m_identities;  ///< the identities that m_looks show
  TraceStore m_noTrace;            ///< used until there is an input
  std::size_t m_runs = 0;          ///< number of runs in the trace when identities were last read
  StackChoices m_stackChoices;
  std::set<document::NodeId> m_named;  ///< the nodes of setNamed()
  std::size_t m_stackLimit = 0;
  Stacks m_stacks;
  std::map<document::NodeId, document::Rect> m_layout;
  std::map<document::NodeId, NodeLook> m_looks;
  NodeStatuses m_statuses;
  NodeStatusCache m_statusCache;
  std::shared_ptr<const document::Document> m_statusDocument;  ///< the document of m_statuses
  std::shared_ptr<const DocumentPrediction> m_prediction;      ///< the prediction that m_predictions shows
  NodePredictions m_predictions;
  std::shared_ptr<const DocumentPrediction> m_counted;          ///< the prediction that m_promptTokens shows
  std::shared_ptr<const document::Document> m_countedDocument;  ///< the document of that prediction
  std::map<document::NodeId, std::int64_t> m_promptTokens;      ///< by text: its tokens in the next prompt
  bool m_predictionsShown = true;
  std::shared_ptr<const KnownServers> m_servers;
  std::unique_ptr<SimulatorAsker> m_simulators;  ///< null: the document had no server yet
  std::vector<document::NodeId> m_selection;
  AreaRef m_area;
};

/// Makes canvases accessible: screen readers and tests see a tree whose items are the nodes, in prompt order.
/// Call this function before the first canvas is shown. Later calls do nothing.
void installCanvasAccessibility();

/// Returns the text of a node for screen readers: "user, document 1, 49 tokens, cached 100 %".
QString accessibleNodeName(const CanvasCore& core, document::NodeId id);

}  // namespace spanscope::ui
