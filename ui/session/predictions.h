// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps the prediction of the shown document up to date. Requests a new prediction from the engine after a
// change of the document, its settings or the cache. The request waits until the user pauses.
#pragma once

#include "ui/session/document_predictor.h"
#include "ui/session/engine_host.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::ui {

class Predictions : public QObject {
  Q_OBJECT
 public:
  /// `engine` must outlive this object.
  explicit Predictions(EngineHost& engine, QObject* parent = nullptr);

  /// Sets the shown document. Call this function whenever the document may have changed; extra calls do no
  /// harm. `tab` identifies the document. Null `document`: no document that could run is shown.
  void watch(std::uint32_t tab, std::shared_ptr<const document::Document> document, const QString& path);
  void forget(std::uint32_t tab);
  /// Sets whether predictions also compare the layouts, which takes many times as long. Default: false.
  void compareLayouts(bool compares);

  /// The predictions for a tab; `isPending` belongs to the watched document.
  PredictionState state(std::uint32_t tab) const;
  /// Whether the newest prediction of the watched document is out of date: document, settings or cache have
  /// changed.
  bool isPending() const { return m_isPending; }

 Q_SIGNALS:
  void changed();

 private:
  /// The subject of a prediction.
  struct Subject {
    std::shared_ptr<const document::Document> document;
    QString path;
    std::uint64_t epoch = 0;  ///< number of events that may have changed the cache
    bool comparesLayouts = false;
    bool operator==(const Subject&) const = default;
  };
  /// The parts of the subject that can change the prediction.
  struct Key {
    query::Node query;
    document::NodePaths paths;
    std::map<std::string, std::string> parameters;
    std::vector<query::ParameterDeclaration> declarations;
    document::RunSettings settings;
    QString path;
    std::uint64_t epoch = 0;
    bool comparesLayouts = false;
    bool operator==(const Key&) const = default;
  };
  struct Tab {
    Subject subject;  ///< the subject of `newest`
    std::optional<Key> key;
    std::shared_ptr<const DocumentPrediction> newest;
    std::shared_ptr<const DocumentPrediction> before;
  };

  struct Asked {
    std::uint64_t id = 0;
    std::uint32_t tab = 0;
    Subject subject;
    std::optional<Key> key;
  };

  void nextEpoch();
  void schedule(int pause);
  void ask();
  void refuse(const QString& problem);
  void take(std::shared_ptr<const DocumentPrediction> prediction);

  EngineHost& m_engine;
  std::shared_ptr<DocumentPredictor> m_predictor =
      std::make_shared<DocumentPredictor>();  ///< used by the engine's thread
  QTimer m_pause;
  std::uint64_t m_epoch = 1;
  bool m_comparesLayouts = false;
  std::uint32_t m_tab = 0;  ///< 0: nothing is watched
  Subject m_watched;
  std::uint64_t m_lastId = 0;
  std::optional<Asked> m_asked;  ///< the prediction that the engine is making
  bool m_isPending = false;
  std::map<std::uint32_t, Tab> m_tabs;
};

}  // namespace spanscope::ui
