// SPDX-License-Identifier: GPL-3.0-or-later
// The state that the parts of the canvas share: the document as it is drawn, the layout of its nodes, their
// state in the trace, and the selection. Every change of the document goes through this class.
#pragma once

#include "ui/document/document_model.h"
#include "ui/editor/node_look.h"
#include "ui/editor/node_prediction.h"
#include "ui/editor/node_status.h"
#include "ui/editor/stacking.h"
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
  /// What is known of the person's servers: their twins are set up so.
  void useServers(std::shared_ptr<const KnownServers> servers);
  const ViewInput* input() const { return m_input ? &*m_input : nullptr; }
  const Theme& theme() const { return m_theme; }

  /// The present document; an empty one if there is neither a model nor an input.
  const document::Document& document() const { return *m_document; }
  /// The document as it is drawn: with the effect of the gesture in progress.
  const document::Document& drawn() const { return m_preview ? *m_preview : *m_document; }
  const std::map<document::NodeId, document::Rect>& layout() const { return m_layout; }
  const std::map<document::NodeId, NodeLook>& looks() const { return m_looks; }
  const Stacks& stacks() const { return m_stacks; }
  const document::Rect* rectOf(document::NodeId id) const;  ///< nullptr: not drawn
  const NodeStatus& statusOf(document::NodeId id) const;
  /// The status of all nodes in a stack together: their tokens, how these were served, and whether a node is
  /// running or has failed.
  NodeStatus statusOf(const Stack& stack) const;
  const NodeStatuses& statuses() const { return m_statuses; }
  /// What the next run will find for this node, if that differs from what the shown run found; nullptr if it
  /// does not differ or predictions are not shown. Where the document is run on servers, their twins say it,
  /// and nothing where they say nothing. Predictions are shown only beside the newest state, and not during a
  /// run.
  const NodePrediction* predictionOf(document::NodeId id) const;
  void setPredictionsShown(bool shown);
  bool arePredictionsShown() const { return m_predictionsShown; }
  /// The tool tip of the node: what its operator does, how its tokens were served, and how the next run will
  /// serve them. Empty if there is nothing to say.
  QString tipOf(document::NodeId id) const;

  /// Sets the height in scene pixels within which stacking should keep each tree; 0: no limit. Trees that are
  /// within `whole` are not stacked.
  void setRoom(double height, double whole = 0);
  /// Draws all inputs of a list node one by one, or stacks them again if there is no room.
  void setSpread(document::NodeId list, bool spread);
  bool isSpread(document::NodeId list) const { return m_stackChoices.opened.contains(list); }
  /// Undoes every setSpread() and open(): lists are stacked again.
  void stackAll();
  /// Opens the stack: all inputs of its list node are drawn one by one.
  void open(const Stack& stack);
  /// The stack whose members are exactly the selection; nullptr if there is none.
  const Stack* selectedStack() const;

  /// Draws the document that a gesture would result in. An empty `preview` draws the document itself again.
  void setPreview(std::optional<document::Document> preview);
  bool hasPreview() const { return m_preview.has_value(); }

  /// For changes that leave trees where the user has placed them: gives the root the place where it is drawn.
  /// Otherwise a query that grows or shrinks would move over the other trees, or away from them.
  void placeRoot(document::Document& document) const;
  /// The same if another tree than that of the top `connected` has a place.
  void placeRootBeside(document::Document& document, document::NodeId connected) const;

  /// Changes the document in one undo step. Returns false if there is no model or nothing changed.
  bool change(const QString& name, const std::function<void(document::Document&)>& change);

  const std::vector<document::NodeId>& selection() const { return m_selection; }
  document::NodeId current() const { return m_selection.empty() ? document::kNoNode : m_selection.back(); }
  bool isSelected(document::NodeId id) const;
  void select(std::vector<document::NodeId> nodes);
  AreaRef selectedArea() const { return m_area; }
  void selectArea(AreaRef area);
  /// Shows the node's next answer: the answer of the next copy of its step.
  void showNextAnswer(document::NodeId node);

  /// Tells that nodes were added and selected, so that the canvas shows them.
  void traceAdded();
  void say(const QString& text) { Q_EMIT messageWanted(text); }
  /// Tells that files were pasted, which the window reads.
  void reportPasted(const QStringList& paths) { Q_EMIT filesPasted(paths); }

 Q_SIGNALS:
  void drawnChanged();  ///< the drawn document or its layout is another
  /// The drawn nodes stand at the same places, but the content of these nodes changed.
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
  /// Gives nodes their present numbers and hues, without a new layout.
  void takeIdentities();
  /// Decides again which nodes are stacked. Returns whether the stacks changed.
  bool restack();
  /// Takes selected and running nodes out of stacks. Returns whether the stacks changed.
  bool showWanted();
  std::set<document::NodeId> wanted() const;
  /// The nodes that differ from `before`, if the documents differ in nothing but the content of single nodes.
  std::optional<std::vector<document::NodeId>> editedInPlace(const document::Document& before) const;
  void redrawNodes(const std::vector<document::NodeId>& nodes);
  void takePrediction();
  void usePredictions(NodePredictions predictions);
  /// Gives texts that no run has shown yet the number of tokens that they will have in the prompt. That
  /// includes the tokens that the chat template puts around them.
  void countFromPrediction(NodeStatuses& statuses) const;
  void updateStatuses();
  void updateStatuses(const std::vector<document::NodeId>& nodes);

  QPointer<DocumentModel> m_model;
  std::optional<ViewInput> m_input;
  Theme m_theme;
  std::shared_ptr<const document::Document> m_document;
  std::optional<document::Document> m_preview;
  SegmentRecords m_book;
  SegmentIdentities m_identities;  ///< the identities from which m_looks were made
  TraceStore m_noTrace;            ///< stands in until there is an input
  std::size_t m_runs = 0;          ///< number of runs in the trace when identities were read last
  StackChoices m_stackChoices;
  std::size_t m_stackLimit = 0;
  Stacks m_stacks;
  std::map<document::NodeId, document::Rect> m_layout;
  std::map<document::NodeId, NodeLook> m_looks;
  NodeStatuses m_statuses;
  NodeStatusCache m_statusCache;
  std::shared_ptr<const document::Document> m_statusDocument;  ///< the document of m_statuses
  std::shared_ptr<const DocumentPrediction> m_prediction;      ///< the prediction of m_predictions
  NodePredictions m_predictions;
  std::shared_ptr<const DocumentPrediction> m_counted;      ///< the prediction of m_promptTokens
  std::map<document::NodeId, std::int64_t> m_promptTokens;  ///< by text: its tokens in the next run's prompt
  bool m_predictionsShown = true;
  std::shared_ptr<const KnownServers> m_servers;
  std::unique_ptr<SimulatorAsker> m_simulators;  ///< null: no document was run on servers yet
  std::vector<document::NodeId> m_selection;
  AreaRef m_area;
};

}  // namespace spanscope::ui
