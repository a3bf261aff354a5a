// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps the forecast of the shown document up to date. It asks the engine for a new forecast when the
// document, its settings or the cache have changed and the person has paused.
#pragma once

#include "ui/session/engine_host.h"
#include "ui/session/forecaster.h"

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

class Forecasts : public QObject {
  Q_OBJECT
 public:
  /// `engine` must outlive this object.
  explicit Forecasts(EngineHost& engine, QObject* parent = nullptr);

  /// Sets the document that is shown from now on. Call it whenever that may have changed; extra calls do no
  /// harm. `tab` identifies the document. A null `document` means that nothing is shown that could run.
  void watch(std::uint32_t tab, std::shared_ptr<const document::Document> document, const QString& path);
  void forget(std::uint32_t tab);
  /// Sets whether forecasts also compare the layouts, which takes many times as long. At first they do not.
  void compareLayouts(bool compares);

  std::shared_ptr<const Forecast> newest(std::uint32_t tab) const;  ///< null: there is none yet
  /// The last known forecast before the newest, to compare with; null: there is none.
  std::shared_ptr<const Forecast> before(std::uint32_t tab) const;
  /// Whether the newest forecast of the watched document is out of date: document, settings or cache have
  /// changed.
  bool isPending() const { return m_isPending; }

 Q_SIGNALS:
  void changed();

 private:
  /// What the forecast was asked for.
  struct Subject {
    std::shared_ptr<const document::Document> document;
    QString path;
    std::uint64_t epoch = 0;  ///< counts what may have changed the cache
    bool comparesLayouts = false;
    bool operator==(const Subject&) const = default;
  };
  /// The parts of the subject that can change the forecast.
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
    std::shared_ptr<const Forecast> newest;
    std::shared_ptr<const Forecast> before;
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
  void take(std::shared_ptr<const Forecast> forecast);

  EngineHost& m_engine;
  std::shared_ptr<Forecaster> m_forecaster = std::make_shared<Forecaster>();  ///< of the engine's thread
  QTimer m_pause;
  std::uint64_t m_epoch = 1;
  bool m_comparesLayouts = false;
  std::uint32_t m_tab = 0;  ///< 0: nothing is watched
  Subject m_watched;
  std::uint64_t m_lastId = 0;
  std::optional<Asked> m_asked;  ///< the forecast that the engine is making
  bool m_isPending = false;
  std::map<std::uint32_t, Tab> m_tabs;
};

}  // namespace spanscope::ui
