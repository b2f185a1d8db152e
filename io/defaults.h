#pragma once
// What a model takes for inputs that its caller leaves out.
#include <map>

#include "io/model.h"

namespace regraft::io {

/// The default of each input that has one (an initialiser of its name, from IR version 4 on), by
/// name. Data that the graph does not understand is carried, to be compared.
std::map<std::string, std::shared_ptr<const Constant>> defaults(const Imported& model);
/// An input of either model whose default the other lacks or has otherwise; empty: there is none.
std::string differing_default(const Imported& a, const Imported& b);

}  // namespace regraft::io
