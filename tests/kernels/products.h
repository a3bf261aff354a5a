// SPDX-License-Identifier: GPL-3.0-or-later
// Random matrix products.
#pragma once

#include "engine/compute/backend.h"
#include "tests/support/random_values.h"

#include <QString>

#include <cstdint>
#include <cstring>
#include <vector>

namespace spanscope::testing {

struct Product {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t features;
  compute::WeightFormat format;
  bool hasBias;
  bool accumulates;
};

struct ProductData {
  std::vector<float> x;
  HostWeight weight;
  HostWeight bias;
  std::vector<float> before;
};

inline ProductData makeData(const Product& c, Random& random) {
  const auto count = [](std::int64_t a, std::int64_t b) { return static_cast<std::size_t>(a * b); };
  return {randomValues(random, count(c.rows, c.columns)),
          randomWeight(random, c.features, c.columns, c.format, 1.0, random.below(4)),
          randomWeight(random, 1, c.features, compute::DType::F32, 1.0, random.below(4)),
          randomValues(random, count(c.rows, c.features))};
}

inline std::vector<float> multiply(compute::Backend& backend, const Product& c, const ProductData& data) {
  const auto x = backend.makeTensor();
  const auto out = backend.makeTensor();
  const auto weight = backend.prepare(data.weight.view(), compute::WeightUse::Matrix);
  const auto bias = backend.prepare(data.bias.view(), compute::WeightUse::Vector);
  backend.upload(data.x, c.rows, c.columns, *x);
  if (c.accumulates) backend.upload(data.before, c.rows, c.features, *out);
  backend.matmul(*x, *weight, c.hasBias ? bias.get() : nullptr, c.accumulates, *out);
  std::vector<float> result(static_cast<std::size_t>(c.rows * c.features));
  backend.download(*out, result);
  return result;
}

inline bool sameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

inline QString describe(const Product& c, const char* what) {
  return QString("%1: %2 rows, %3 columns, %4 features, %5%6%7")
      .arg(what)
      .arg(c.rows)
      .arg(c.columns)
      .arg(c.features)
      .arg(compute::nameOf(c.format))
      .arg(c.hasBias ? ", bias" : "", c.accumulates ? ", accumulating" : "");
}

}  // namespace spanscope::testing
