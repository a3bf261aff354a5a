// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/pictures/planted_faults.h"

#include "engine/jobs/benchmark.h"
#include "engine/workbench/document/edits.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "tests/ui/views/common/twenty_documents.h"

#include <QPainter>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::test {
namespace {

std::map<QRgb, int> colorsOf(const QImage& image, const QRect& part) {
  std::map<QRgb, int> counts;
  for (int y = part.top(); y <= part.bottom(); ++y) {
    for (int x = part.left(); x <= part.right(); ++x) ++counts[image.pixel(x, y)];
  }
  return counts;
}

QColor mostOf(const QImage& image, const QRect& part) {
  const std::map<QRgb, int> counts = colorsOf(image, part);
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

ui::ViewInput withEvents(const ui::ViewInput& input, const std::function<void(trace::Event&)>& change) {
  auto trace = std::make_shared<ui::TraceStore>();
  for (trace::Event event : input.trace->events()) {
    change(event);
    trace->append(std::move(event));
  }
  ui::ViewInput other = input;
  other.trace = std::move(trace);
  return other;
}

constexpr auto kCold = static_cast<std::size_t>(experiment::RunCase::Cold);
constexpr auto kSame = static_cast<std::size_t>(experiment::RunCase::SameOrder);
constexpr auto kSwapped = static_cast<std::size_t>(experiment::RunCase::Swapped);

ui::ViewInput withTurns(const ui::ViewInput& input,
                        const std::function<void(experiment::RepeatTurn&)>& change) {
  jobs::Benchmark benchmark = *ui::measured<jobs::BenchmarkJob>(input.measured);
  for (experiment::RepeatTurn& turn : benchmark.turns) change(turn);
  ui::ViewInput other = input;
  setMeasured<jobs::BenchmarkJob>(other, std::move(benchmark));
  return other;
}

/// How much the grey of pixels differs from that of their neighbours, summed over any part of a picture.
class Changes {
 public:
  Changes(const QImage& image, QPoint neighbour)
      : m_stride(image.width() + 1), m_sums(static_cast<std::size_t>(m_stride * (image.height() + 1)), 0) {
    for (int y = 0; y < image.height(); ++y) {
      for (int x = 0; x < image.width(); ++x) {
        const QPoint other = QPoint(x, y) - neighbour;
        const int change =
            image.valid(other) ? std::abs(qGray(image.pixel(x, y)) - qGray(image.pixel(other))) : 0;
        m_sums[index(x + 1, y + 1)] = change + at(x, y + 1) + at(x + 1, y) - at(x, y);
      }
    }
  }

  std::int64_t in(const QRect& part) const {
    const int right = part.x() + part.width();
    const int lower = part.y() + part.height();
    return at(right, lower) - at(part.x(), lower) - at(right, part.y()) + at(part.x(), part.y());
  }

 private:
  std::size_t index(int x, int y) const { return static_cast<std::size_t>(y * m_stride + x); }
  std::int64_t at(int x, int y) const { return m_sums[index(x, y)]; }

  int m_stride = 0;
  std::vector<std::int64_t>
      m_sums;  ///< of all pixels above and to the left, so that a part takes four of them
};

}  // namespace

QImage exchanged(QImage image, const QColor& one, const QColor& other) {
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      const QRgb pixel = image.pixel(x, y);
      if (pixel == one.rgb()) image.setPixelColor(x, y, other);
      if (pixel == other.rgb()) image.setPixelColor(x, y, one);
    }
  }
  return image;
}

QImage withAnotherInk(QImage image, const QRect& part, const QColor& ink) {
  const QColor ground = mostOf(image, part);
  const auto distance = [&ground](QRgb color) {
    return std::abs(qRed(color) - ground.red()) + std::abs(qGreen(color) - ground.green()) +
           std::abs(qBlue(color) - ground.blue());
  };
  QRgb was = ground.rgb();
  for (const auto& [color, count] : colorsOf(image, part)) {
    if (distance(color) > distance(was)) was = color;
  }
  // Smooth edges are mixed of the two: so they are of the other ink.
  for (int y = part.top(); y <= part.bottom(); ++y) {
    for (int x = part.left(); x <= part.right(); ++x) {
      const double share = static_cast<double>(distance(image.pixel(x, y))) / distance(was);
      const auto mixed = [share](int from, int to) {
        return static_cast<int>(std::lround(from + share * (to - from)));
      };
      image.setPixelColor(x, y,
                          QColor(mixed(ground.red(), ink.red()), mixed(ground.green(), ink.green()),
                                 mixed(ground.blue(), ink.blue())));
    }
  }
  return image;
}

QImage moved(const QImage& image, const QRect& part, QPoint by) {
  QImage result = image;
  QPainter painter(&result);
  painter.drawImage(part.topLeft() + by, image, part);
  return result;
}

QRect busiestPart(const QImage& image, QSize size) {
  constexpr int kStep = 8;
  const Changes across(image, {1, 0});
  const Changes down(image, {0, 1});
  QRect busiest;
  std::int64_t most = -1;
  for (int y = 0; y + size.height() <= image.height(); y += kStep) {
    for (int x = 0; x + size.width() <= image.width(); x += kStep) {
      const QRect part(QPoint(x, y), size);
      // Stripes that are moved along themselves look as before.
      const std::int64_t sum = std::min(across.in(part), down.in(part));
      if (sum > most) {
        most = sum;
        busiest = part;
      }
    }
  }
  return busiest;
}

QImage without(QImage image, const QRect& part) {
  const QColor most = mostOf(image, part);
  QPainter painter(&image);
  painter.fillRect(part, most);
  return image;
}

QImage roundedOtherwise(QImage image) {
  image = image.convertToFormat(QImage::Format_RGB32);
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      const QRgb pixel = image.pixel(x, y);
      const int by = (x + y) % 2 == 0 ? 1 : -1;
      const auto other = [by](int channel) { return std::clamp(channel + by, 0, 255); };
      image.setPixel(x, y, qRgb(other(qRed(pixel)), other(qGreen(pixel)), other(qBlue(pixel))));
    }
  }
  return image;
}

ui::ViewInput withOtherShares(const ui::ViewInput& input) {
  return withEvents(input, [](trace::Event& event) {
    auto* read = std::get_if<trace::SegmentAttention>(&event.payload);
    if (read == nullptr) return;
    const std::size_t width = read->keySegments.size();
    for (std::size_t i = 0; i < read->mass.size(); i += width)
      std::swap(read->mass[i + kFirstNeeded], read->mass[i + kFirstNeeded + 1]);
  });
}

ui::ViewInput withoutTheSelection(const ui::ViewInput& input) {
  ui::ViewInput other = input;
  other.selection = {};
  return other;
}

ui::ViewInput withoutTheLastDocument(const ui::ViewInput& input) {
  document::Document document = *input.document;
  for (const document::NodeId id : document.ids()) {
    const auto* join = document.at(id).own.as<query::Join>();
    if (join == nullptr || join->kind != query::JoinKind::Plus) continue;
    document::removeSubtrees(document, {document.at(id).children.back()});
    break;
  }
  ui::ViewInput other = input;
  other.document = std::make_shared<const document::Document>(std::move(document));
  return other;
}

ui::ViewInput withOtherLatency(const ui::ViewInput& input) {
  return withEvents(input, [](trace::Event& event) {
    if (auto* metrics = std::get_if<trace::StepMetrics>(&event.payload)) metrics->timeToFirstToken *= 2;
  });
}

ui::ViewInput withSlowSwaps(const ui::ViewInput& input) {
  return withTurns(input, [](experiment::RepeatTurn& turn) { turn[kSwapped] = turn[kCold]; });
}

ui::ViewInput withExchangedCases(const ui::ViewInput& input) {
  return withTurns(input, [](experiment::RepeatTurn& turn) { std::swap(turn[kSame], turn[kSwapped]); });
}

ui::ViewInput withoutEvents(const ui::ViewInput& input) {
  ui::ViewInput other = input;
  other.position = 0;
  return other;
}

ui::ViewInput withoutTheLastRun(const ui::ViewInput& input) {
  ui::ViewInput other = input;
  const RunId last = input.paths.rbegin()->first;
  for (std::size_t i = 0; i < input.trace->size(); ++i) {
    if (input.trace->event(i).run != last) continue;
    other.position = i;
    break;
  }
  return other;
}

}  // namespace spanscope::test
