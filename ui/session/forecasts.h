// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps the forecast of the document that is shown up to date: asks the engine for a new one when document,
// settings or cache have changed and the person has paused.
#pragma once

#include "ui/session/engine_host.h"
#include "ui/session/forecast.h"

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
  /// `engine` must outlive it.
  explicit Forecasts(EngineHost& engine, QObject* parent = nullptr);

  /// What is shown from now on; to be called whenever that may have changed, as often as wanted. `tab` names
  /// the document, `document` null: nothing that could run is shown.
  void watch(std::uint32_t tab, std::shared_ptr<const document::Document> document, const QString& path);
  void forget(std::uint32_t tab);
  /// Whether forecasts compare the layouts as well, which takes many times as long; at first they do not.
  void compareLayouts(bool compares);

  std::shared_ptr<const Forecast> newest(std::uint32_t tab) const;  ///< null: none yet
  /// The last one that was known before the newest, to compare with; null: none.
  std::shared_ptr<const Forecast> before(std::uint32_t tab) const;
  /// Whether the newest one of what is watched is not of the present document, settings or cache.
  bool isPending() const { return m_isPending; }

 Q_SIGNALS:
  void changed();

 private:
  /// What a forecast depends on.
  struct Subject {
    std::shared_ptr<const document::Document> document;
    QString path;
    std::uint64_t epoch = 0;  ///< counts what may have changed the cache
    bool comparesLayouts = false;
    bool operator==(const Subject&) const = default;
  };
  /// What of it makes a difference.
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
    Subject subject;  ///< that `newest` is of
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
  QTimer m_pause;
  std::uint64_t m_epoch = 1;
  bool m_comparesLayouts = false;
  std::uint32_t m_tab = 0;  ///< 0: nothing is watched
  Subject m_watched;
  std::uint64_t m_lastId = 0;
  std::optional<Asked> m_asked;  ///< what the engine works on
  bool m_isPending = false;
  std::map<std::uint32_t, Tab> m_tabs;
};

}  // namespace spanscope::ui
