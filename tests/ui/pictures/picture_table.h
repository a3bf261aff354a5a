// SPDX-License-Identifier: GPL-3.0-or-later
// The pictures that are held to golden ones: the canvas and every view, at two sizes.
#pragma once

#include "ui/session/view_input.h"

#include <QImage>
#include <QSize>
#include <QString>

#include <vector>

namespace spanscope::test {

enum class Scene {
  Example,          ///< pictureScene()
  TwentyDocuments,  ///< twentyDocuments(), with one of them selected
  TwentyCards,      ///< twentyDocumentsScene()
  Steps,            ///< stepsScene()
  NotForecast,      ///< stepsScene(), without what its next run would find
  Experiment,       ///< pictureScene() with sampleExperiment()
  Benchmark,        ///< pictureScene() with sampleBenchmark()
  Lengths,          ///< pictureScene() with sampleLengths()
  Mistakes,         ///< mistakenScene()
  Fragments,        ///< fragmentsScene()
};

/// One line a picture: its name, and "canvas" or the id of a view of viewTable().
struct Picture {
  QString name;
  QString id;
  QSize size;
  Scene scene = Scene::Example;
};

const std::vector<Picture>& pictureTable();
/// The row of this name, which there must be.
std::size_t pictureIndex(const QString& name);

ui::ViewInput sceneOf(Scene scene);
QImage renderPicture(const Picture& picture, const ui::ViewInput& input, ui::Scheme scheme);
/// "canvas-wide-dark"
QString pictureName(const Picture& picture, ui::Scheme scheme);

}  // namespace spanscope::test
