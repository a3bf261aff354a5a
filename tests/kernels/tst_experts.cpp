// SPDX-License-Identifier: GPL-3.0-or-later
// Mixtures of experts against the reference, which computes each row and expert alone.
#include "engine/base/error.h"
#include "engine/compute/experts.h"
#include "tests/kernels/each_device.h"
#include "tests/support/compare.h"
#include "tests/support/equal_bits.h"
#include "tests/support/random_values.h"
#include "tests/support/reference_backend.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <numeric>

using namespace spanscope;
using namespace spanscope::testing;
using compute::Activation;
using compute::WeightFormat;
using compute::WeightUse;

namespace {

struct Problem {
  std::int64_t hidden = 0;
  std::int64_t inner = 0;
  std::int64_t experts = 0;
  compute::ExpertChoice choice;
  Activation activation = Activation::Silu;
  std::vector<HostWeight> matrices;  ///< gate, up and down of each expert
  std::vector<HostWeight> biases;    ///< the same, or none
  std::vector<float> x;              ///< [rows][hidden]
  std::vector<float> scores;         ///< [rows][experts]
};

Problem makeProblem(Random& random, std::int64_t rows, WeightFormat format) {
  Problem problem;
  problem.hidden = 32 * random.between(1, 4);
  problem.inner = 32 * random.between(1, 3);
  problem.experts = random.between(2, 9);
  problem.choice.used = static_cast<std::int32_t>(random.between(1, problem.experts));
  problem.choice.isNormalised = random.below(2) == 0;
  problem.activation = static_cast<Activation>(random.below(3));
  const bool hasBiases = random.below(2) == 0;
  for (std::int64_t i = 0; i < problem.experts; ++i) {
    for (const bool isDown : {false, false, true}) {
      const std::int64_t height = isDown ? problem.hidden : problem.inner;
      const std::int64_t width = isDown ? problem.inner : problem.hidden;
      problem.matrices.push_back(randomWeight(random, height, width, format, 0.2, 0));
      if (hasBiases) problem.biases.push_back(randomWeight(random, 1, height, compute::DType::F32, 0.3, 0));
    }
  }
  problem.x = randomValues(random, static_cast<std::size_t>(rows * problem.hidden), 1);
  problem.scores = randomValues(random, static_cast<std::size_t>(rows * problem.experts), 3);
  return problem;
}

/// The results of the problem's rows first … first + rows − 1.
std::vector<float> mixed(compute::Backend& backend, const Problem& problem, std::int64_t first,
                         std::int64_t rows) {
  std::vector<std::unique_ptr<compute::Weight>> weights;
  const auto take = [&](const std::vector<HostWeight>& from, std::size_t index, WeightUse use) {
    if (from.empty()) return static_cast<const compute::Weight*>(nullptr);
    return static_cast<const compute::Weight*>(
        weights.emplace_back(backend.prepare(from[index].view(), use)).get());
  };
  std::vector<compute::ExpertWeights> experts;
  for (std::size_t i = 0; i < problem.matrices.size(); i += 3) {
    experts.push_back(
        {take(problem.matrices, i, WeightUse::Matrix), take(problem.matrices, i + 1, WeightUse::Matrix),
         take(problem.matrices, i + 2, WeightUse::Matrix), take(problem.biases, i, WeightUse::Vector),
         take(problem.biases, i + 1, WeightUse::Vector), take(problem.biases, i + 2, WeightUse::Vector)});
  }
  const auto part = [&](const std::vector<float>& values, std::int64_t columns) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first * columns);
    auto tensor = backend.makeTensor();
    backend.upload(std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(rows * columns)), rows,
                   columns, *tensor);
    return tensor;
  };
  const auto out = backend.makeTensor();
  backend.mixExperts(*part(problem.x, problem.hidden), *part(problem.scores, problem.experts), experts,
                     problem.choice, problem.activation, *out);
  std::vector<float> values(static_cast<std::size_t>(rows * problem.hidden));
  backend.download(*out, values);
  return values;
}

}  // namespace

class TestExperts : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    m_seed = testSeed(20261129);
    qInfo("seed %llu", static_cast<unsigned long long>(m_seed));
  }

  void mixturesEqualTheReference_data() { addDevices(); }
  void mixturesEqualTheReference() {
    const DeviceInUse device;
    const auto backend = device.make();
    ReferenceBackend reference;
    Random random(m_seed);
    for (int i = 0; i < device.rounds(24); ++i) {
      constexpr std::array kFormats = {WeightFormat::F32, WeightFormat::BF16, WeightFormat::Q8_0,
                                       WeightFormat::MXFP4};
      const std::int64_t rows = random.between(1, 40);
      const Problem problem =
          makeProblem(random, rows, kFormats[static_cast<std::size_t>(i) % kFormats.size()]);
      if (!backend->info().mixesExperts) {
        QVERIFY_EXCEPTION_THROWN(mixed(*backend, problem, 0, rows), Failure);
        continue;
      }
      const std::vector<float> actual = mixed(*backend, problem, 0, rows);
      const Comparison result =
          compareRows(actual, mixed(reference, problem, 0, rows), static_cast<std::size_t>(problem.hidden),
                      64 * activationUnit(*backend));
      QVERIFY2(result.ok, result.text().c_str());
    }
  }

  /// Neither other rows nor their number change the bits of a row.
  void rowsDoNotDependOnOthers_data() { addDevices(); }
  void rowsDoNotDependOnOthers() {
    const DeviceInUse device;
    const auto backend = device.make();
    if (!backend->info().mixesExperts || !backend->info().rowsAreBitEqual) QSKIP("other guarantees");
    Random random(m_seed + 1);
    for (const WeightFormat format : {WeightFormat::BF16, WeightFormat::MXFP4}) {
      constexpr std::int64_t kRows = 37;
      const Problem problem = makeProblem(random, kRows, format);
      const std::vector<float> all = mixed(*backend, problem, 0, kRows);
      for (const std::int64_t together : {1, 2, 7, 20}) {
        std::vector<float> parts;
        for (std::int64_t first = 0; first < kRows; first += together) {
          const auto part = mixed(*backend, problem, first, std::min(together, kRows - first));
          parts.insert(parts.end(), part.begin(), part.end());
        }
        QVERIFY(equalBits(all, parts));
      }
    }
  }

  /// More rows than are computed together.
  void manyRowsEqualFewRows_data() { addDevices(); }
  void manyRowsEqualFewRows() {
    const DeviceInUse device;
    const auto backend = device.make();
    if (!backend->info().mixesExperts || !backend->info().rowsAreBitEqual) QSKIP("other guarantees");
    Random random(m_seed + 2);
    constexpr std::int64_t kRows = 1500;
    Problem problem = makeProblem(random, kRows, WeightFormat::F32);
    problem.choice.used = static_cast<std::int32_t>(problem.experts);
    const std::vector<float> all = mixed(*backend, problem, 0, kRows);
    for (const std::int64_t row : {std::int64_t{0}, std::int64_t{900}, kRows - 1}) {
      const std::vector<float> alone = mixed(*backend, problem, row, 1);
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(row * problem.hidden);
      QVERIFY(
          equalBits(alone, std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(problem.hidden))));
    }
  }

  /// Other weights than those of the chosen experts are not read.
  void otherExpertsAreNotRead_data() { addDevices(); }
  void otherExpertsAreNotRead() {
    const DeviceInUse device;
    const auto backend = device.make();
    if (!backend->info().mixesExperts) QSKIP("no experts");
    Random random(m_seed + 3);
    Problem problem = makeProblem(random, 3, WeightFormat::F32);
    problem.choice.used = 1;
    for (std::size_t i = 0; i < problem.scores.size(); ++i)
      problem.scores[i] = static_cast<std::int64_t>(i) % problem.experts == 1 ? 5.0F : 0.0F;
    const std::vector<float> before = mixed(*backend, problem, 0, 3);
    const std::vector<float> nan(static_cast<std::size_t>(problem.inner * problem.hidden),
                                 std::numeric_limits<float>::quiet_NaN());
    problem.matrices[0] = HostWeight(nan, problem.inner, problem.hidden, compute::DType::F32, 0);
    QVERIFY(equalBits(before, mixed(*backend, problem, 0, 3)));
  }

  void expertsAreChosenByTheirScores() {
    const auto chosen = [](const std::vector<float>& scores, std::int32_t used, bool isNormalised) {
      std::vector<compute::ChosenExpert> result(static_cast<std::size_t>(used));
      compute::chooseExperts(scores, {used, isNormalised}, result);
      return result;
    };
    const std::vector<float> scores = {1, 3, 2, 3, -1};
    for (const bool isNormalised : {true, false}) {
      const auto two = chosen(scores, 2, isNormalised);
      QCOMPARE(two[0].expert, 1);
      QCOMPARE(two[1].expert, 3);
      const double all = isNormalised ? 2 : 2 + std::exp(-2.0) + std::exp(-1.0) + std::exp(-4.0);
      QCOMPARE(two[0].weight, static_cast<float>(1 / all));
    }
    const auto three = chosen(scores, 3, true);
    QCOMPARE(three[1].expert, 2);
    QVERIFY(std::abs(three[0].weight + three[1].weight + three[2].weight - 1) < 1e-6F);
    // Of equal scores, the lower expert.
    QCOMPARE(chosen({2, 2, 2}, 1, true)[0].expert, 0);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const auto broken = chosen({0, nan, 1}, 1, true);
    QVERIFY(broken[0].expert == 1 && std::isnan(broken[0].weight));
  }

  void wrongShapesAreRefused_data() { addDevices(); }
  void wrongShapesAreRefused() {
    const DeviceInUse device;
    const auto backend = device.make();
    Random random(m_seed + 4);
    Problem problem = makeProblem(random, 2, WeightFormat::F32);
    problem.choice.used = static_cast<std::int32_t>(problem.experts) + 1;
    QVERIFY_EXCEPTION_THROWN(mixed(*backend, problem, 0, 2), Failure);
    problem.choice.used = 0;
    QVERIFY_EXCEPTION_THROWN(mixed(*backend, problem, 0, 2), Failure);
  }

 private:
  std::uint64_t m_seed = 0;
};

SPANSCOPE_TEST(tst_experts, TestExperts)
#include "tst_experts.moc"
